import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { appError, AppFailure } from '../../../contract/errors.ts';
import type { PathPolicy } from './windowContext.ts';
import { realPath } from './pathInside.ts';

export interface FolderListing {
  folder: string;
  parent: string | null;
  entries: { name: string; path: string; isFolder: boolean; sizeBytes: number | null }[];
}

/** What a folder of this computer holds, for a window that has no file dialog of its own. */
export async function browseFolder(folder: string, policy: PathPolicy): Promise<FolderListing> {
  const here = realPath(folder);
  if (!policy.allows(here)) throw new AppFailure(policy.refusal(folder));
  const names = await readdir(here).catch((reason: unknown) => {
    throw new AppFailure(appError('input_unreadable', `${folder} cannot be opened: ${String(reason)}`));
  });
  const entries = await Promise.all(
    names.filter((name) => !name.startsWith('.')).map((name) => describe(here, name, policy)),
  );
  const parent = dirname(here);
  return {
    folder: here,
    parent: parent !== here && policy.allows(parent) ? parent : null,
    entries: entries
      .filter((entry) => entry !== undefined)
      .sort(
        (a, b) =>
          Number(b.isFolder) - Number(a.isFolder) ||
          a.name.localeCompare(b.name, 'en', { numeric: true, sensitivity: 'base' }),
      ),
  };
}

/** Links that lead out of what the window may see, and what can't be read, are left out. */
async function describe(
  folder: string,
  name: string,
  policy: PathPolicy,
): Promise<FolderListing['entries'][number] | undefined> {
  const path = join(folder, name);
  const info = await stat(path).catch(() => undefined);
  if (!info || !policy.allows(realPath(path))) return undefined;
  if (!info.isDirectory() && !info.isFile()) return undefined;
  return { name, path, isFolder: info.isDirectory(), sizeBytes: info.isFile() ? info.size : null };
}
