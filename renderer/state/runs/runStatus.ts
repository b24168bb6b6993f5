import type { RunSummary } from '../../../electron/contract/index.ts';

export type RunStatus =
  RunSummary['state']['phase'] | 'queued' | 'interrupted' | 'missing' | 'done_with_failures' | 'halted';

/** The one word for a run, from its phase and from what else is known about it. */
export function runStatus(run: RunSummary): RunStatus {
  if (run.missing) return 'missing';
  if (run.interrupted) return 'interrupted';
  const { state } = run;
  if (run.starting) return 'created';
  if (state.phase === 'created' && run.queuePosition === null) return 'paused';
  if (state.phase === 'created' && run.queuePosition !== null) return 'queued';
  if (state.phase === 'paused' && run.queuePosition !== null) return 'queued';
  if (state.phase === 'paused' && state.error) return 'halted';
  if (
    state.phase === 'done' &&
    (state.failedParts > 0 || state.failedRecords > 0 || (state.failedInputs ?? 0) > 0)
  )
    return 'done_with_failures';
  return state.phase;
}
