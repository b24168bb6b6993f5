import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { RESULT_FILES } from '../../contract/results.ts';

export const RUN_DATABASE = 'run.db';
const RUN_LOCK = 'run.lock';
const WORK_FOLDERS = ['records', 'shards', 'scores', 'embeddings'].map((name) => join('work', name));

/** Everything this program puts into a run's folder, and all that `--force` or a deletion may remove. */
export const OUR_NAMES: readonly string[] = [
  RUN_DATABASE,
  `${RUN_DATABASE}-wal`,
  `${RUN_DATABASE}-shm`,
  `${RUN_DATABASE}-journal`,
  RUN_LOCK,
  'work',
  'logs',
  ...Object.values(RESULT_FILES),
];

export function isRunFolder(folder: string): boolean {
  return existsSync(join(folder, RUN_DATABASE));
}

/**
 * Whether a new run may go into the folder. One that holds a run, or anything that isn't ours, is refused; leftovers of a
 * run that died before it had a database are not in the way.
 */
export async function checkRunFolder(folder: string, force: boolean): Promise<Result<void>> {
  try {
    if (!existsSync(folder)) return ok(undefined);
    const foreign = (await readdir(folder)).filter((name) => !OUR_NAMES.includes(name));
    if (isRunFolder(folder) && !force) {
      return err(appError('folder_has_run', `${folder} already holds a run.`));
    }
    if (!isRunFolder(folder) && foreign.length > 0) {
      return err(appError('folder_not_ours', `${folder} holds other files, such as ${foreign[0]}.`));
    }
    return ok(undefined);
  } catch (reason) {
    return err(appError('folder_unwritable', `${folder} cannot be written: ${String(reason)}`));
  }
}

/** Deletes what this program names in the folder, and nothing else. Whoever calls it holds the run's lock, which stays. */
export async function removeRun(folder: string): Promise<void> {
  for (const name of OUR_NAMES.filter((name) => name !== RUN_LOCK))
    await rm(join(folder, name), { recursive: true, force: true });
}

export async function removeWork(folder: string, keepEmbeddings: boolean): Promise<void> {
  const unneeded = keepEmbeddings
    ? ['records', 'shards', 'scores'].map((name) => join('work', name))
    : ['work'];
  for (const name of unneeded) await rm(join(folder, name), { recursive: true, force: true });
}

export async function makeWorkFolders(folder: string): Promise<void> {
  for (const name of [...WORK_FOLDERS, 'logs']) await mkdir(join(folder, name), { recursive: true });
}
