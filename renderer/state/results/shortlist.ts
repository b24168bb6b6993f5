import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { sayError } from '../say.ts';
import { engine, queries } from '../connection.ts';
import { askAgain, queryClient } from '../queryClient.ts';
import { useResultsView } from './resultsView.ts';

/** The rows on a run's shortlist; null until they have loaded. */
export function useShortlist(runId: string): ReadonlySet<number> | null {
  // Nobody else changes it, so it never goes stale.
  const options = queries.results.shortlisted.queryOptions({ input: { runId }, staleTime: Infinity });
  const { data } = useQuery(options);
  return useMemo(() => (data ? new Set(data) : null), [data]);
}

/** Puts a sequence on the shortlist or takes it off. */
export function shortlist(runId: string, row: number, shortlisted: boolean): void {
  const key = queries.results.shortlisted.queryKey({ input: { runId } });
  queryClient.setQueryData(key, (rows = []) => [
    ...rows.filter((other) => other !== row),
    ...(shortlisted ? [row] : []),
  ]);
  engine.results
    .shortlist({ runId, row, shortlisted })
    .then(() =>
      askAgain(
        useResultsView.getState().filter.shortlisted ? queries.results.key() : queries.results.counts.key(),
      ),
    )
    .catch((reason: unknown) => {
      sayError(reason);
      askAgain(queries.results.shortlisted.key());
    });
}
