import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppFailure, asAppError, type ErrorCode } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { deleteInRun, isPlainFolder, pathInRun } from '../../system/runFiles.ts';
import { acquireRunLock } from '../../store/runFolder.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { ShareMerged } from '../../store/types.ts';
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

const NOTHING: ShareMerged = { keys: [], finished: false, damaged: 0 };

/** Merges the results of all shares that no process is computing. */
export async function mergeShares(store: RunStore, notes: Pick<RunNotes, 'add'>): Promise<void> {
  let [parts, shares] = [0, 0];
  for (const name of shareNames(store.folder)) {
    const { length } = (await mergeShare(store, notes, name))?.keys ?? [];
    parts += length;
    shares += length > 0 ? 1 : 0;
  }
  if (parts > 0) notes.add('info', 'shares_merged', message('note.shares_merged', { parts, shares }));
}

/**
 * Merges one share. Once it has computed everything, its folder is deleted: the run's database then holds all
 * of it. Null while a process computes it.
 */
export async function mergeShare(
  store: RunStore,
  notes: Pick<RunNotes, 'add'>,
  name: string,
): Promise<ShareMerged | null> {
  const path = `${SHARES_FOLDER}/${name}`;
  if (!isPlainFolder(pathInRun(store.folder, path))) return NOTHING;
  let lock;
  try {
    lock = await acquireRunLock(join(store.folder, SHARES_FOLDER, name));
  } catch (reason) {
    if (reason instanceof AppFailure && reason.error.code === 'run_locked') return null;
    throw reason;
  }
  try {
    const merged = await store.mergeShare(path);
    const { damaged: parts } = merged;
    if (parts > 0)
      notes.add('warning', 'share_damaged', message('note.share_damaged', { parts, share: name }));
    if (merged.finished) deleteInRun(store.folder, path);
    return merged;
  } catch (reason) {
    const { code, cause } = asAppError(reason);
    if (!UNUSABLE.has(code)) throw reason;
    notes.add('warning', 'share_unusable', message('note.share_unusable', { share: name, text: cause }));
    return NOTHING;
  } finally {
    lock.release();
  }
}

export function shareNames(folder: string): string[] {
  if (!isPlainFolder(join(folder, SHARES_FOLDER))) return [];
  return readdirSync(join(folder, SHARES_FOLDER))
    .filter((name) => SHARE_NAME.test(name))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}
