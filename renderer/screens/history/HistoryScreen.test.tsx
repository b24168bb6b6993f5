import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { madeRunNamed } from '../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { useRuns } from '../../state/runs/runs.ts';
import { HistoryScreen } from './HistoryScreen.tsx';
import type { RunsTable } from './RunsTable.tsx';

/** The rows of the table would need a layout. */
const Ticks: typeof RunsTable = ({ runs, onTick }) => (
  <>
    {runs.map(({ runId }) => (
      <button key={runId} type="button" onClick={() => onTick(runId)}>
        Tick {runId}
      </button>
    ))}
  </>
);

it('does not compare a run that was deleted after it was ticked', async () => {
  const user = userEvent.setup();
  const [run, other] = [madeRunNamed('running'), madeRunNamed('queuedFirst')];
  useRuns.setState({ runs: [run, other] });
  await renderWithEngine(<HistoryScreen table={Ticks} />);
  await user.click(await screen.findByRole('button', { name: `Tick ${run.runId}` }));
  await screen.findByRole('button', { name: 'Compare with another run …' });
  act(() => useRuns.setState({ runs: [other] }));
  expect(screen.queryByRole('button', { name: 'Compare with another run …' })).toBeNull();
});
