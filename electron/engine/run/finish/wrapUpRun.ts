import { join } from 'node:path';
import { causeOf } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { WorkerReady } from '../../../contract/protocol/index.ts';
import type { EngineContext } from '../engineContext.ts';
import type { TablesWritten } from '../../results/types.ts';
import type { RunStore } from '../../store/runStore.ts';
import { describeStoreError } from '../../store/sqlite/database.ts';
import { keepCalibration } from '../goal.ts';
import { recordRun } from './finishRun.ts';
import { somethingAt } from '../../system/runFiles.ts';
import { removeWork } from '../../store/runFolder.ts';
import type { RunNotes } from '../runNotes.ts';

export interface WrapUp {
  tables: TablesWritten;
  worker: WorkerReady | undefined;
  keepWork: boolean;
  keepEmbeddings: boolean;
  /** Whether the run was made to calibrate its model. */
  calibrates: boolean;
}

/**
 * The steps that remain once a run is done: writing run.json and deleting the work folder. The run stays done
 * if they fail.
 */
export async function wrapUpRun(
  context: EngineContext,
  store: RunStore,
  notes: RunNotes,
  { tables, worker, keepWork, keepEmbeddings, calibrates }: WrapUp,
): Promise<void> {
  if (calibrates) {
    const kept = await keepCalibration(context.paths, store);
    if (!kept.ok)
      notes.add('warning', 'not_calibrated', message('note.not_calibrated', { cause: causeOf(kept.error) }));
  }
  try {
    await recordRun(context, store, tables, worker);
    if (!keepWork) removeWork(store.folder, keepEmbeddings);
    await store.checkpoint();
  } catch (reason) {
    const error = describeStoreError(reason, store.folder);
    notes.add(
      'warning',
      'run_not_wrapped_up',
      message('note.not_wrapped_up', { cause: causeOf(error) }),
      error.detail,
    );
  }
}

/** Whether work files were left that the run should not keep: the computer crashed, or the disk was full. */
export function hasLeftWork(folder: string, keepWork: boolean): boolean {
  return !keepWork && somethingAt(join(folder, 'work', 'parts'));
}
