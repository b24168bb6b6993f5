import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppFailure, appFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { PathPolicy } from './windowContext.ts';
import { realPath } from './knownPaths.ts';

interface FolderListing {
  folder: string;
  parent: string | null;
  entries: {
    name: string;
    path: string;
    isFolder: boolean;
    sizeBytes: number | null;
    changedAt: string | null;
  }[];
  /** Whether there are more entries than a list can show. */
  truncated: boolean;
}

const AT_ONCE = 16;

/** Lists a folder of this computer for a window without a file dialog. */
export async function browseFolder(folder: string, policy: PathPolicy): Promise<FolderListing> {
  const here = await realPath(folder);
  if (!(await policy.allows(here))) throw new AppFailure(policy.refusal(folder));
  const { found, truncated } = await entriesOf(here).catch((reason: unknown) => {
    throw appFailure('input_unreadable', message('browse.not_opened', { folder, reason: String(reason) }));
  });
  const entries: FolderListing['entries'] = [];
  for (let start = 0; start < found.length; start += AT_ONCE) {
    const some = found.slice(start, start + AT_ONCE).map((entry) => describe(here, entry, policy));
    entries.push(...(await Promise.all(some)).filter((entry) => entry !== undefined));
  }
  const parent = dirname(here);
  const byName = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  return {
    folder: here,
    parent: parent !== here && (await policy.allows(parent)) ? parent : null,
    entries: entries.sort(
      (a, b) => Number(b.isFolder) - Number(a.isFolder) || byName.compare(a.name, b.name),
    ),
    truncated,
  };
}

/** No more entries than a window can show, however many there are. */
async function entriesOf(folder: string): Promise<{ found: Dirent[]; truncated: boolean }> {
  const found: Dirent[] = [];
  for await (const entry of await opendir(folder, { bufferSize: 256 })) {
    if (entry.name.startsWith('.')) continue;
    if (found.length === LIMITS.folderEntries) return { found, truncated: true };
    found.push(entry);
  }
  return { found, truncated: false };
}

/** Links that lead outside the window's root, and unreadable entries, are left out. */
async function describe(
  folder: string,
  entry: Dirent,
  policy: PathPolicy,
): Promise<FolderListing['entries'][number] | undefined> {
  const { name } = entry;
  const path = join(folder, name);
  if (entry.isDirectory()) return { name, path, isFolder: true, sizeBytes: null, changedAt: null };
  const info = await stat(path).catch(() => undefined);
  if (!info || (!entry.isFile() && !(await policy.allows(path)))) return undefined;
  if (!info.isDirectory() && !info.isFile()) return undefined;
  return {
    name,
    path,
    isFolder: info.isDirectory(),
    sizeBytes: info.isFile() ? info.size : null,
    changedAt: info.isFile() ? new Date(info.mtimeMs).toISOString() : null,
  };
}
