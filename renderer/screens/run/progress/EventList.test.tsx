import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { RunEvent } from '../../../../electron/contract/index.ts';
import { expect, it } from 'vitest';
import { madeRunNamed } from '../../../testing/memoryEngine/runs.ts';
import { useRuns } from '../../../state/runs/runs.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { RunDialogs } from '../../history/RunDialogs.tsx';
import { EventList, eventsShown } from './EventList.tsx';

it('opens the log of the run', async () => {
  const run = madeRunNamed('running');
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

it('combines the events of a pause, and marks what computes again after it as going on', () => {
  const events = ['running', 'paused', 'pausing', 'running', 'created'].map(
    (phase, index) =>
      ({ id: 9 - index, wording: { key: `phase.${phase}`, values: {} } }) as unknown as RunEvent,
  );
  expect(eventsShown(events).map(({ event, goesOn }) => [event.wording?.key, goesOn])).toEqual([
    ['phase.running', true],
    ['phase.paused', false],
    ['phase.running', false],
    ['phase.created', false],
  ]);
});
