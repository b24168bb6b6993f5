import { statSync } from 'node:fs';
import { join } from 'node:path';
import { appError, AppFailure } from '../../contract/errors.ts';
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

export const SERVER_PACKAGE_ENDING = '-node.tgz';

/**
 * Finds the package of this version: in a packed program beside its resources, in a checkout where `npm run
 * pack:server` writes it, or the one that is named.
 */
export async function serverPackageOf(root: string, version: string, named?: string): Promise<ServerPackage> {
  const name = `virnucpro-${version}-linux-x64${SERVER_PACKAGE_ENDING}`;
  const candidates = named === undefined ? [join(root, 'server', name), join(root, 'out', name)] : [named];
  for (const path of candidates) {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    if (bytes === undefined) continue;
    const sha256 = await hashFile(path);
    return { path, bytes, version, sha256, id: `${version}-${sha256.slice(0, 12)}` };
  }
  throw new AppFailure(appError('server_package_missing', `There is no ${name}.`));
}
