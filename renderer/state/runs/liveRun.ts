import { QueryObserver } from '@tanstack/react-query';
import type { RunLive } from '../../../electron/contract/index.ts';
import { queries } from '../connection.ts';
import { queryClient } from '../queryClient.ts';
import { create } from 'zustand';

interface LiveRunState {
  readonly runId: string | null;
  /** Null until the engine has sent the first snapshot. */
  readonly live: RunLive | null;
  readonly error: Error | null;
}

const NOTHING: LiveRunState = { runId: null, live: null, error: null };

export const useLiveRun = create<LiveRunState>(() => NOTHING);

/** Follows one run; the snapshots of the previous run are dropped at once. */
export function followRun(runId: string): () => void {
  useLiveRun.setState({ ...NOTHING, runId }, true);
  const observer = new QueryObserver(
    queryClient,
    queries.runs.watch.experimental_liveOptions({ input: { runId } }),
  );
  return observer.subscribe(({ data, error }) => useLiveRun.setState({ error, ...(data && { live: data }) }));
}
