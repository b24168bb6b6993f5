import { act, screen } from '@testing-library/react';
import { expect, it, onTestFinished } from 'vitest';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { queries } from '../../../state/connection.ts';
import { queryClient } from '../../../state/queryClient.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { madeLive } from '../../../testing/memoryEngine/live.ts';
import { madeRuns, RUN_IDS } from '../../../testing/memoryEngine/runs.ts';
import { World } from '../../../testing/memoryEngine/world.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { OverallProgress } from './OverallProgress.tsx';

const PAUSED: RunSummary['state'] = { phase: 'paused', error: null };

function runAtWork(): RunSummary {
  const running = madeRuns(Date.now()).find(({ runId }) => runId === RUN_IDS.running);
  if (!running) throw new Error('No invented run is at work');
  return running;
}

/** Shown as the engine reports it while nothing is known of how much there is to do. */
function showWithoutFraction(run: RunSummary): void {
  const live = madeLive(new World({}), run);
  useLiveRun.setState({ live: { ...live, progress: { ...live.progress, fraction: null } } });
}

it('moves while a run is at work of which nobody knows how much it is, and not where nobody works', async () => {
  onTestFinished(() => useLiveRun.setState({ live: null }));
  const run = runAtWork();
  showWithoutFraction(run);
  await renderWithEngine(<OverallProgress />);
  const bar = () => screen.getByRole('progressbar', { name: 'Progress of the whole run' });
  expect(bar().getAttribute('aria-valuenow')).toBeNull();
  act(() => showWithoutFraction({ ...run, state: PAUSED }));
  expect(bar().getAttribute('aria-valuenow')).toBe('0');
});

it('counts viral sequences once more when the run pauses', async () => {
  onTestFinished(() => useLiveRun.setState({ live: null }));
  const run = runAtWork();
  showWithoutFraction(run);
  await renderWithEngine(<OverallProgress />);
  await screen.findByText('17.7% (16.0% to 19.4%)');
  const key = queries.runs.viralSoFar.queryKey({ input: { runId: run.runId } });
  act(
    () =>
      void queryClient.setQueryData(key, {
        run: { unit: 'sequences', viral: 7, scored: 30, total: 90, estimate: null },
        samples: [],
        curve: [],
      }),
  );
  await screen.findByText('7 of 30');
  act(() => showWithoutFraction({ ...run, state: PAUSED }));
  await screen.findByText('17.7% (16.0% to 19.4%)');
});
