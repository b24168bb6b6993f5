import type { RunSummary } from '../../../electron/contract/index.ts';
import { useLiveRun } from '../../state/liveRun.ts';
import { useRuns } from '../../state/runs.ts';

/** A run's summary: from its own snapshots where they have come, else from the list of all runs. */
export function useRunSummary(runId: string): RunSummary | null {
  const live = useLiveRun((state) => (state.live?.run.runId === runId ? state.live.run : null));
  const listed = useRuns((state) => state.runs?.find((run) => run.runId === runId) ?? null);
  return live ?? listed;
}
