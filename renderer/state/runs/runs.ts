import { QueryObserver } from '@tanstack/react-query';
import { create } from 'zustand';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { engine, queries } from '../connection.ts';
import { askAgain, queryClient } from '../queryClient.ts';

interface RunsState {
  /** Null until the engine has sent them. */
  readonly runs: readonly RunSummary[] | null;
  readonly error: Error | null;
}

export const useRuns = create<RunsState>(() => ({ runs: null, error: null }));

export function followRuns(): () => void {
  const observer = new QueryObserver(queryClient, queries.runs.watchAll.experimental_liveOptions());
  return observer.subscribe(({ data, error }) => {
    const phases = new Map(useRuns.getState().runs?.map(({ runId, state }) => [runId, state.phase]));
    useRuns.setState({ runs: data ?? null, error });
    // What is asked for every few seconds while a run works has not seen its end.
    if (data?.some(({ runId, state }) => (phases.get(runId) ?? state.phase) !== state.phase))
      askAgain(queries.runs.key());
  });
}

/** Waiting runs in the order in which they will start. */
export const queuedRuns = (runs: readonly RunSummary[]) =>
  runs
    .filter((run) => run.queuePosition !== null && !isAtWork(run))
    .toSorted((a, b) => (a.queuePosition ?? 0) - (b.queuePosition ?? 0));

export type RunStatus =
  RunSummary['state']['phase'] | 'queued' | 'interrupted' | 'missing' | 'done_with_failures' | 'halted';

/** A run's status in one word, from its phase and what else is known about it. */
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
    (state.failedParts > 0 || state.failedRecords > 0 || (state.failedInputs ?? 0) > 0 || state.damage)
  )
    return 'done_with_failures';
  return state.phase;
}

export const resumeRun = ({ runId }: RunSummary) => engine.runs.resume({ runId });

/** What would be missing is known only once all files have been read. */
export function mayFinishNow({ missing, state: { phase } }: RunSummary, isRead: boolean): boolean {
  return isRead && !missing && phase !== 'done' && phase !== 'finishing' && phase !== 'failed';
}
