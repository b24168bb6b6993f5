import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, onTestFinished } from 'vitest';
import { message, type RunEvent, type RunLive } from '../../../../electron/contract/index.ts';
import { madeRuns } from '../../../testing/memoryEngine/runs.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { useRuns } from '../../../state/runs/runs.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { RunDialogs } from '../../history/RunDialogs.tsx';
import { EventList } from './EventList.tsx';

it('opens the log of the run', async () => {
  const [run] = madeRuns(Date.now());
  if (!run) throw new Error('There are no invented runs');
  const user = userEvent.setup();
  useRuns.setState({ runs: [run] });
  await renderWithEngine(
    <>
      <EventList runId={run.runId} />
      <RunDialogs />
    </>,
  );
  await user.click(screen.getByRole('button', { name: 'Show log' }));
  const dialog = await screen.findByRole('dialog');
  expect(dialog.textContent).toContain('logs/run.log');
});

it('says of a run that goes on nothing of the rest that it passes through, and keeps real pauses', async () => {
  const at = (id: number, second: number, key: 'phase.paused' | 'phase.running'): RunEvent => {
    const { text, wording } = message(key);
    const time = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
    return { id, time, level: 'info', code: 'phase', message: text, wording, detail: null };
  };
  const recentEvents = [
    at(101, 0, 'phase.running'),
    at(102, 30, 'phase.paused'),
    at(103, 90, 'phase.running'),
    at(104, 120, 'phase.paused'),
    at(105, 120, 'phase.running'),
  ];
  // Other files of tests go on in this process.
  onTestFinished(() => useLiveRun.setState({ live: null }));
  useLiveRun.setState({ live: { devices: [], recentEvents } as unknown as RunLive });
  await renderWithEngine(<EventList runId="66666666-6666-4666-8666-666666666666" />);
  await screen.findByText('The run was made.');
  expect(screen.getAllByText('Computing began.')).toHaveLength(4);
  expect(screen.getAllByText('The run is paused. Everything computed is kept.')).toHaveLength(1);
});
