import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { madeRuns } from '../../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { EventList } from './EventList.tsx';

it('opens the log of the run', async () => {
  const [run] = madeRuns(Date.now());
  if (!run) throw new Error('There are no invented runs');
  const user = userEvent.setup();
  await renderWithEngine(<EventList runId={run.runId} />);
  await user.click(screen.getByRole('button', { name: 'Show log' }));
  const dialog = await screen.findByRole('dialog');
  expect(dialog.textContent).toContain('logs/run.log');
});
