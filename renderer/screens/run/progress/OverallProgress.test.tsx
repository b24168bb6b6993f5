import { act, screen, within } from '@testing-library/react';
import { expect, it, onTestFinished } from 'vitest';
import { BEST_SO_FAR } from '../../../../electron/contract/filter.ts';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import type { ShareEstimate } from '../../../../electron/contract/shareEstimate.ts';
import { engine, queries } from '../../../state/connection.ts';
import { useResultsView } from '../../../state/results/resultsView.ts';
import { queryClient } from '../../../state/queryClient.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { madeRunNamed } from '../../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { ExpectedAnswer } from './ExpectedAnswer.tsx';
import { OverallProgress } from './OverallProgress.tsx';

const INTERVAL = /^\([\d.]+%–[\d.]+%\)$/;
const PAUSED: RunSummary['state'] = { phase: 'paused', error: null };

/** All of its files are read. */
const runAtWork = (): RunSummary => ({ ...madeRunNamed('interrupted'), interrupted: false });

/** Shows the run as the engine reports it while the amount of work is unknown. */
async function showWithoutFraction(run: RunSummary): Promise<void> {
  for await (const live of await engine.runs.watch({ runId: run.runId })) {
    useLiveRun.setState({ live: { ...live, run, progress: { ...live.progress, fraction: null } } });
    break;
  }
}

it('animates the bar while a run of unknown size is at work, but not while it rests', async () => {
  onTestFinished(() => useLiveRun.setState({ live: null }));
  const run = runAtWork();
  await renderWithEngine(<OverallProgress />);
  await act(() => showWithoutFraction(run));
  const bar = () => screen.getByRole('progressbar', { name: 'Progress of the whole run' });
  expect(bar().getAttribute('aria-valuenow')).toBeNull();
  await act(() => showWithoutFraction({ ...run, state: PAUSED }));
  expect(bar().getAttribute('aria-valuenow')).toBe('0');
});

const expectedKey = ({ runId }: RunSummary) => [
  ...queries.runs.expectedShares.queryKey({ input: { runId } }),
  true,
];

function Answer() {
  const run = useLiveRun((state) => state.live?.run);
  return run ? <ExpectedAnswer run={run} /> : null;
}

it('shows the five best hits so far, each of which leads to its sequence in the results', async () => {
  onTestFinished(() => useLiveRun.setState({ live: null }));
  const run = runAtWork();
  await renderWithEngine(<Answer />);
  await act(() => showWithoutFraction(run));
  const [best, ...others] = within(
    await screen.findByRole('group', { name: 'Best so far' }),
  ).getAllByRole<HTMLAnchorElement>('link');
  expect(others).toHaveLength(4);
  const { items } = await engine.results.page({ runId: run.runId, ...BEST_SO_FAR, limit: 5 });
  expect(best?.textContent).toBe(items[0]?.seqName);
  act(() => best?.click());
  expect(useResultsView.getState()).toMatchObject({ runId: run.runId, openRow: items[0]?.row });
  expect(location.hash).toBe(`#/run/${run.runId}/results`);
});

it('counts viral sequences once more when the run pauses', async () => {
  onTestFinished(() => useLiveRun.setState({ live: null }));
  const run = runAtWork();
  await renderWithEngine(<Answer />);
  await act(() => showWithoutFraction(run));
  await screen.findByText(INTERVAL);
  const key = expectedKey(run);
  act(
    () =>
      void queryClient.setQueryData(key, {
        isSample: true,
        run: { unit: 'sequences', viral: 7, scored: 30, total: 90, estimate: null },
        samples: [],
      }),
  );
  await screen.findByText('7 of 30');
  await screen.findByText(/The range comes once/);
  await act(() => showWithoutFraction({ ...run, state: PAUSED }));
  await screen.findByText(INTERVAL);
});

it('shows a share of which nothing is missing without an interval, also in the order of the files', async () => {
  onTestFinished(() => useLiveRun.setState({ live: null }));
  const run = runAtWork();
  await renderWithEngine(<Answer />);
  await act(() => showWithoutFraction(run));
  await screen.findByText(INTERVAL);
  const show = (estimate: ShareEstimate | null) =>
    queryClient.setQueryData(expectedKey(run), {
      isSample: false,
      run: { unit: 'chunks', viral: 60, scored: 120, total: 120, estimate },
      samples: [],
    });
  act(() => void show(null));
  await screen.findByText(/what is computed is no sample of the rest/);
  act(() => void show({ share: 0.5, low: 0.5, high: 0.5 }));
  const share = await screen.findByText('50.0%');
  expect(share.parentElement?.textContent.trim()).toBe('50.0%');
});
