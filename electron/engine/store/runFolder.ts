import { constants, existsSync, readdirSync, type Dirent } from 'node:fs';
import { access, mkdir, readdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { hostname } from 'node:os';
import {
  appError,
  AppFailure,
  asAppError,
  type AppError,
  err,
  ok,
  type Result,
  appFailure,
  failWith,
} from '../../contract/errors.ts';
import { message, type Message } from '../../contract/messages.ts';
import { isOurName, RUN_DATABASE, RUN_LOCK, SHARES_FOLDER } from '../../contract/folderNames.ts';
import { IMPORTED_EMBEDDINGS_FOLDER } from '../../contract/plan.ts';
import { tooLong, type PathLimit } from '../system/pathLength.ts';
import { deleteInRun, isLink, makeFolderInRun, notAFile, somethingAt } from '../system/runFiles.ts';
import { acquireFileLock, fileLockHolder, type FileLock, type LockHolder } from '../system/fileLock.ts';
import { describeStoreError } from './sqlite/database.ts';

const FOLDERS: ReadonlySet<string> = new Set(['work', 'logs', SHARES_FOLDER]);
const WORK_FOLDERS = ['records', 'parts', 'scores', 'embeddings'].map((name) => `work/${name}`);

/** Characters of the longest name below a run's folder, including temporary ones and the slash before it. */
const LONGEST_BELOW = 64;

export function isRunFolder(folder: string): boolean {
  return somethingAt(join(folder, RUN_DATABASE));
}

/**
 * Whether a new run may use the folder. A folder that holds a run, or files that aren't ours, is refused;
 * leftovers of a run that died before it had a database are allowed. A folder from which the new run would
 * delete its own input is refused as well.
 */
export async function checkRunFolder(
  folder: string,
  force: boolean,
  inputs: readonly string[],
  limit?: PathLimit,
): Promise<Result<void>> {
  const long = tooLong(folder, { code: 'folder_unwritable', below: LONGEST_BELOW }, limit);
  if (long !== undefined) return err(long);
  try {
    if (!existsSync(folder)) return await checkCanMake(folder);
    // Hidden files and the inputs themselves are allowed: workflow engines put both into the folder of a
    // task.
    const named = new Set(inputs.map((input) => resolve(input)));
    const foreign = (await readdir(folder)).filter(
      (name) => !isOurName(name) && !name.startsWith('.') && !named.has(resolve(folder, name)),
    );
    if (isRunFolder(folder) && !force) {
      return failWith('folder_has_run', message('start.folder_has_run', { folder }));
    }
    if (!isRunFolder(folder) && foreign.length > 0) {
      return failWith(
        'folder_not_ours',
        message('start.folder_not_ours', { folder, file: foreign[0] ?? '' }),
      );
    }
    const doomed = await inputAmongOurs(await realpath(folder), inputs);
    if (doomed !== undefined) {
      return failWith(
        'usage',
        `${doomed} would be deleted: it is a result of the run that ${folder} holds.`,
        {
          nextStep: 'Choose another folder for the results, or copy that file somewhere else.',
        },
      );
    }
    await access(folder, constants.W_OK | constants.X_OK);
    return ok(undefined);
  } catch (reason) {
    return err(unwritable(folder, reason));
  }
}

async function inputAmongOurs(folder: string, inputs: readonly string[]): Promise<string | undefined> {
  for (const input of inputs) {
    const [name = '..'] = relative(folder, await realpath(input)).split(sep);
    if (isOurName(name)) return input;
  }
  return undefined;
}

/** Reports before the inputs are read, which can take long, that the folder can't be created. */
async function checkCanMake(folder: string): Promise<Result<void>> {
  let above = dirname(folder);
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  if (!(await stat(above)).isDirectory())
    return failWith('folder_unwritable', message('place.file_above', { folder, above }));
  await access(above, constants.W_OK | constants.X_OK);
  return ok(undefined);
}

/** Creates the folder and its parents. Throws AppFailure. */
export async function makeRunFolder(folder: string): Promise<void> {
  try {
    // Created one by one: Node.js's recursive mkdir never ends if the system reports a missing parent that
    // exists.
    const missing: string[] = [];
    for (let path = folder; !existsSync(path); path = dirname(path)) missing.unshift(path);
    for (const path of missing) await mkdir(path);
  } catch (reason) {
    throw new AppFailure(unwritable(folder, reason));
  }
}

const REFUSALS: Readonly<Record<string, Message>> = {
  EACCES: message('reason.not_allowed'),
  EPERM: message('reason.not_allowed'),
  EROFS: message('reason.read_only'),
  ENOTDIR: message('reason.file_in_path'),
  EEXIST: message('reason.name_taken'),
  ENAMETOOLONG: message('reason.name_too_long'),
  ENOENT: message('reason.no_new_folders'),
};

function unwritable(folder: string, reason: unknown): AppError {
  if (reason instanceof AppFailure) return reason.error;
  const code = reason instanceof Error && 'code' in reason ? String(reason.code) : '';
  const detail = asAppError(reason).cause;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return appError('disk_full', message('place.full_to_make', { folder }), { detail });
  }
  const because = REFUSALS[code] ?? detail;
  return appError('folder_unwritable', message('place.refused', { path: folder, reason: because }), {
    detail,
  });
}

/**
 * Deletes this program's files in the folder, and nothing else. The caller holds the run's lock, which stays.
 */
export async function removeRun(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => isOurName(name) && name !== RUN_LOCK);
  // The database goes first: if this is interrupted, the rest is no run any more, and blocks nothing.
  names.sort((a, b) => Number(b === RUN_DATABASE) - Number(a === RUN_DATABASE));
  // Links are deleted, but not their targets.
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
}

export function removeWork(folder: string, keepEmbeddings: boolean): void {
  const unneeded = keepEmbeddings
    ? ['work/records', 'work/parts', 'work/scores', IMPORTED_EMBEDDINGS_FOLDER]
    : ['work'];
  for (const name of [...unneeded, 'work/shares.json', SHARES_FOLDER]) deleteInRun(folder, name);
}

export function makeWorkFolders(folder: string): void {
  for (const name of [...WORK_FOLDERS, 'logs']) makeFolderInRun(folder, name);
}

/** Refuses files in a run's folder that have one of our names but are links or not regular files. */
export function refuseLinks(folder: string): void {
  for (const entry of listIfThere(folder)) {
    if (!isOurName(entry.name)) continue;
    const path = join(folder, entry.name);
    if (FOLDERS.has(entry.name)) refuseLinksBelow(path, entry);
    else refuseUnlessFile(path, entry);
  }
}

function refuseLinksBelow(path: string, entry: Dirent): void {
  if (!entry.isDirectory()) {
    refuseUnlessFile(path, entry);
    return;
  }
  for (const below of readdirSync(path, { withFileTypes: true }))
    refuseLinksBelow(join(path, below.name), below);
}

function refuseUnlessFile(path: string, entry: Dirent): void {
  if (entry.isSymbolicLink()) throw isLink(path);
  if (!entry.isFile()) throw notAFile(path);
}

function listIfThere(folder: string): Dirent[] {
  return existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
}

const LOCK_FILE = 'run.lock';

/** Takes the lock of a run folder. Rejects with run_locked, naming the holder; folder_gone; folder_unwritable. */
export async function acquireRunLock(folder: string, onLost?: () => void): Promise<FileLock> {
  const onHeld = ({ host, pid }: LockHolder) => {
    const held = { folder, pid: String(pid) };
    const cause =
      host === hostname()
        ? message('run.locked.here', held)
        : message('run.locked', { ...held, where: host });
    throw appFailure('run_locked', cause);
  };
  try {
    return await acquireFileLock(join(folder, LOCK_FILE), { onHeld, onLost });
  } catch (error) {
    throw new AppFailure(describeStoreError(error, folder));
  }
}

/** Who holds the lock of a run folder now; null if no living process does. */
export function runLockHolder(folder: string): LockHolder | null {
  return fileLockHolder(join(folder, LOCK_FILE));
}
