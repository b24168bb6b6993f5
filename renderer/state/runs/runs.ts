import { QueryObserver } from '@tanstack/react-query';
import { create } from 'zustand';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { queries } from '../connection.ts';
import { queryClient } from '../queryClient.ts';

interface RunsState {
  /** Null until the engine has sent them. */
  readonly runs: readonly RunSummary[] | null;
  readonly error: Error | null;
}

export const useRuns = create<RunsState>(() => ({ runs: null, error: null }));

export function followRuns(): () => void {
  const observer = new QueryObserver(queryClient, queries.runs.watchAll.experimental_liveOptions());
  return observer.subscribe(({ data, error }) => useRuns.setState({ runs: data ?? null, error }));
}

/** Waiting runs in the order in which they will start. */
export const queuedRuns = (runs: readonly RunSummary[]) =>
  runs
    .filter((run) => run.queuePosition !== null && !isAtWork(run))
    .toSorted((a, b) => (a.queuePosition ?? 0) - (b.queuePosition ?? 0));
