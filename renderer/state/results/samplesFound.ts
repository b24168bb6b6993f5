import { useQuery } from '@tanstack/react-query';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { queries } from '../connection.ts';
import { whileGrowing } from './whileGrowing.ts';

/** What the run has found, in all and by sample. */
export function useSamplesFound(run: RunSummary) {
  const asked = queries.results.samples.queryOptions({ input: { runId: run.runId } });
  return useQuery({ ...asked, queryKey: [...asked.queryKey, run.state.phase], ...whileGrowing(run) });
}

/** What it is expected to find, until it is done; the engine counts again only as often as that is cheap. */
export function useExpectedShares(run: RunSummary) {
  const asked = queries.runs.expectedShares.queryOptions({ input: { runId: run.runId } });
  const { phase } = run.state;
  return useQuery({
    ...asked,
    queryKey: [...asked.queryKey, isAtWork(run)],
    ...whileGrowing(run),
    enabled: phase !== 'created' && phase !== 'done',
  }).data;
}
