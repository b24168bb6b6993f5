import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppFailure, asAppError, type ErrorCode } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { deleteInRun, isPlainFolder, pathInRun } from '../../files/runFiles.ts';
import { acquireRunLock } from '../../store/runFolder.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { ShareMerged as StoredShareMerged } from '../../store/types.ts';
import { writeShareList } from '../../store/shares.ts';
import { SHARES_FOLDER } from '../../../contract/folderNames.ts';
import type { RunNotes } from '../runNotes.ts';

const SHARE_NAME = /^\d{1,6}-of-\d{1,6}$/;

/** Errors of a single share: it is computed again, and the others are merged. */
const UNUSABLE: ReadonlySet<ErrorCode> = new Set([
  'run_damaged',
  'run_too_new',
  'folder_not_a_run',
  'folder_unsafe',
]);

/** Writes what the shares of a prepared run need to know about it. */
export async function listForShares(store: RunStore): Promise<void> {
  const { description, plan, prepared } = await store.loadRun();
  if (prepared === null) throw new Error('the run is not prepared');
  const { runId, name, options } = description;
  writeShareList(store.folder, { runId, name, options, plan, prepared, parts: await store.shareParts() });
}

export interface SharesMerged {
  /** Keys of the merged parts. */
  keys: string[];
  /** Names of shares that have not computed all of their parts, such as `3-of-8`. */
  unfinished: string[];
  /** Those of them that a process is computing now. */
  atWork: string[];
}

/** What was merged of a share, and whether it has computed all of its parts. */
export type ShareMerged = Pick<StoredShareMerged, 'keys' | 'finished'>;

/** Merges the results of all shares that no process is computing. */
export async function mergeShares(store: RunStore, notes: Pick<RunNotes, 'add'>): Promise<SharesMerged> {
  const merged: SharesMerged = { keys: [], unfinished: [], atWork: [] };
  let shares = 0;
  for (const name of shareNames(store.folder)) {
    const one = await mergeShare(store, notes, name);
    if (one === 'at_work') merged.atWork.push(name);
    else {
      for (const key of one.keys) merged.keys.push(key);
      if (one.keys.length > 0) shares += 1;
    }
    if (one === 'at_work' || !one.finished) merged.unfinished.push(name);
  }
  if (merged.keys.length > 0)
    notes.add('info', 'shares_merged', message('note.shares_merged', { parts: merged.keys.length, shares }));
  return merged;
}

/**
 * Merges one share. Once it has computed everything, its folder is deleted: the run's database then holds all
 * of it.
 */
export async function mergeShare(
  store: RunStore,
  notes: Pick<RunNotes, 'add'>,
  name: string,
): Promise<'at_work' | ShareMerged> {
  const path = `${SHARES_FOLDER}/${name}`;
  if (!isPlainFolder(pathInRun(store.folder, path))) return { keys: [], finished: false };
  let lock;
  try {
    lock = await acquireRunLock(join(store.folder, SHARES_FOLDER, name));
  } catch (reason) {
    if (reason instanceof AppFailure && reason.error.code === 'run_locked') return 'at_work';
    throw reason;
  }
  try {
    const { keys, finished, damaged } = await store.mergeShare(path);
    if (damaged > 0)
      notes.add('warning', 'share_damaged', message('note.share_damaged', { parts: damaged, share: name }));
    if (finished) removeShare(store.folder, path);
    return { keys, finished };
  } catch (reason) {
    const { code, cause } = asAppError(reason);
    if (!UNUSABLE.has(code)) throw reason;
    notes.add('warning', 'share_unusable', message('note.share_unusable', { share: name, text: cause }));
    return { keys: [], finished: false };
  } finally {
    lock.release();
  }
}

/**
 * Its last process may still be writing a status there. Remaining files are deleted at the end of the run.
 */
function removeShare(folder: string, path: string): void {
  try {
    deleteInRun(folder, path);
  } catch (reason) {
    if (reason instanceof AppFailure) throw reason;
  }
}

export function shareNames(folder: string): string[] {
  if (!isPlainFolder(join(folder, SHARES_FOLDER))) return [];
  return readdirSync(join(folder, SHARES_FOLDER))
    .filter((name) => SHARE_NAME.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}
