import { create } from 'zustand';
import type { RunSummary } from '../../electron/contract/index.ts';
import type { ShownError } from '../api/callError.ts';
import { followStream } from '../api/subscription.ts';
import { connectionStore } from './connection.ts';

interface RunsState {
  /** Null until the engine has told them. */
  readonly runs: readonly RunSummary[] | null;
  readonly error: ShownError | null;
}

export const useRuns = create<RunsState>(() => ({ runs: null, error: null }));

export function followRuns(): () => void {
  return followStream(connectionStore, (client, signal) => client.runs.watchAll(undefined, { signal }), {
    onEvent: (runs) => useRuns.setState({ runs, error: null }),
    onError: (error) => useRuns.setState({ error }),
  });
}

export const isInWork = (run: RunSummary) =>
  !run.interrupted &&
  (run.state.phase === 'running' ||
    run.state.phase === 'pausing' ||
    run.state.phase === 'draining' ||
    run.state.phase === 'finishing');

/** Waiting runs in the order in which they will start. */
export const queuedRuns = (runs: readonly RunSummary[]) =>
  runs
    .filter((run) => run.queuePosition !== null && !isInWork(run))
    .toSorted((a, b) => (a.queuePosition ?? 0) - (b.queuePosition ?? 0));
