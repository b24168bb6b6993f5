import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { queries } from '../../state/connection.ts';
import { queryClient } from '../../state/queryClient.ts';
import { changeFilter, useResultsView, viewRun } from '../../state/results/resultsView.ts';
import { madeRuns, RUN_IDS } from '../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { SummaryStrip } from './SummaryStrip.tsx';

async function renderStrip() {
  const run = madeRuns(Date.now()).find(({ runId }) => runId === RUN_IDS.done);
  if (!run) throw new Error('There is no such run.');
  viewRun(run.runId);
  const { container } = await renderWithEngine(<SummaryStrip run={run} filter={{}} version={0} />);
  await screen.findByRole('button', { name: /Virus/ });
  const histogram = container.querySelector('svg');
  if (!histogram) throw new Error('There is no histogram.');
  histogram.setPointerCapture = () => undefined;
  vi.spyOn(histogram, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 100, 36));
  return histogram;
}

const limits = () => {
  const { minScore = null, belowScore = null } = useResultsView.getState().filter;
  return [minScore, belowScore];
};
const at = (clientX: number) => ({ clientX, pointerId: 1 });

it('filters by score while the pointer drags, stops once the touch is cancelled, and removes the filter on a plain press', async () => {
  const histogram = await renderStrip();
  fireEvent.pointerDown(histogram, at(20));
  fireEvent.pointerMove(histogram, at(60));
  expect(limits()).toEqual([0.2, 0.6]);
  fireEvent.pointerCancel(histogram, at(60));
  fireEvent.pointerMove(histogram, at(90));
  expect(limits()).toEqual([0.2, 0.6]);
  fireEvent.pointerDown(histogram, at(40));
  fireEvent.pointerUp(histogram, at(40));
  expect(limits()).toEqual([null, null]);
});

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
