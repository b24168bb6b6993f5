import { existsSync } from 'node:fs';
import { lstat, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AppFailure, asAppError } from '../../../contract/errors.ts';
import { isOurName } from '../../../contract/folderNames.ts';
import { isRunFolder, removeRun, removeWork } from '../../store/runFolder.ts';
import { acquireRunLock } from '../../store/runLock.ts';

interface FolderSize {
  bytes: number;
  files: number;
  /** Bytes of them in `work`, without embeddings that the run keeps. */
  workBytes: number;
}

/**
 * Size of this program's files in a run's folder, which deleting the run would free. Targets of links stay,
 * and aren't counted.
 */
export async function runFolderSize(folder: string): Promise<FolderSize> {
  const total: FolderSize = { bytes: 0, files: 0, workBytes: 0 };
  const add = async (path: string, isWork = false): Promise<void> => {
    const info = await lstat(path).catch(() => undefined);
    if (!info?.isFile()) return;
    total.bytes += info.size;
    total.files += 1;
    if (isWork) total.workBytes += info.size;
  };
  for (const name of (await readdir(folder).catch(() => [])).filter(isOurName)) {
    const path = join(folder, name);
    const info = await lstat(path).catch(() => undefined);
    if (info?.isFile()) await add(path);
    if (!info?.isDirectory()) continue;
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    for (const entry of entries) if (entry.isFile()) await add(join(entry.parentPath, entry.name));
  }
  return total;
}

/** Deletes this program's files, and the folder itself if it is then empty. */
export async function deleteRunFiles(folder: string, files: 'work' | 'all'): Promise<void> {
  if (!existsSync(folder) || !isRunFolder(folder)) return;
  const lock = await acquireRunLock(folder);
  try {
    if (files === 'work') removeWork(folder, false);
    else await removeRun(folder);
  } catch (reason) {
    throw new AppFailure(asAppError(reason));
  } finally {
    lock.release();
  }
  // Fails if other files are left, as intended.
  if (files === 'all') await rmdir(folder).catch(() => undefined);
}
