import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { appError, AppFailure } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { hashFile } from '../files/hashFile.ts';

/**
 * The package that is installed on another computer: command line, window, Python side and Node in one file.
 */
export interface ServerPackage {
  path: string;
  bytes: number;
  sha256: string;
  version: string;
  /** The folder that it is unpacked to; it differs for different contents. */
  id: string;
}

/** Stored beside the package, so that gigabytes need not be read to identify it. */
const serverPackageListSchema = z.object({
  version: z.string().regex(/^[\w.+-]+$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().positive(),
});

export type ServerPackageList = z.infer<typeof serverPackageListSchema>;

export const SERVER_PACKAGE_ENDING = '-node.tgz';

/**
 * Finds the package of this version: in a packed program beside its resources, in a checkout where `npm run
 * pack:server` writes it. Its hash is read from the file that packing has written; the other computer
 * compares it with what arrives.
 */
export async function findServerPackage(
  root: string,
  version: string,
  named?: string,
): Promise<ServerPackage> {
  const candidates =
    named === undefined
      ? ['server', 'out'].flatMap((folder) =>
          globSync(`virnucpro-${version}-linux-x64${SERVER_PACKAGE_ENDING}`, { cwd: join(root, folder) }).map(
            (name) => join(root, folder, name),
          ),
        )
      : [named];
  for (const path of candidates) {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    if (bytes === undefined) continue;
    const list = parseJson(serverPackageListSchema, readText(`${path}.json`));
    const known = list?.bytes === bytes ? list : { version, sha256: await hashFile(path) };
    return {
      path,
      bytes,
      version: known.version,
      sha256: known.sha256,
      id: `${known.version}-${known.sha256.slice(0, 12)}`,
    };
  }
  throw new AppFailure(
    appError('server_package_missing', `There is no virnucpro-${version}-linux-x64${SERVER_PACKAGE_ENDING}.`),
  );
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
