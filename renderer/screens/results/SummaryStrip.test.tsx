import { act, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import { queries } from '../../state/connection.ts';
import { queryClient } from '../../state/queryClient.ts';
import { changeFilter, viewRun } from '../../state/results/resultsView.ts';
import { madeRunNamed } from '../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { SummaryStrip } from './SummaryStrip.tsx';

async function renderStrip() {
  const run = madeRunNamed('done');
  viewRun(run.runId);
  await renderWithEngine(<SummaryStrip run={run} filter={{}} version={0} />);
  await screen.findByRole('button', { name: /Virus/ });
}

it('queries the scores once typing pauses', async () => {
  await renderStrip();
  for (const search of ['c', 'co', 'con', 'cont']) act(() => changeFilter({ search }));
  const asked = () =>
    queryClient
      .getQueryCache()
      .findAll({ queryKey: queries.results.histogram.key() })
      .map(({ queryKey }) => JSON.stringify(queryKey));
  await waitFor(() => expect(asked().some((key) => key.includes('"cont"'))).toBe(true));
  expect(asked()).toHaveLength(2);
});
