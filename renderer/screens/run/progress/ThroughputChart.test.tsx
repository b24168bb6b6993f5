import { act, screen } from '@testing-library/react';
import { it } from 'vitest';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { queries } from '../../../state/connection.ts';
import { queryClient } from '../../../state/queryClient.ts';
import { useRuns } from '../../../state/runs/runs.ts';
import { madeRunNamed } from '../../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { ThroughputChart } from './ThroughputChart.tsx';

function Watched() {
  const run = useRuns((state) => state.runs?.[0]);
  return run ? <ThroughputChart run={run} /> : null;
}

it('shows the last samples of a run that ended before the curve was queried again', async () => {
  const running = madeRunNamed('running');
  const change = (run: RunSummary) => act(() => useRuns.setState({ runs: [run] }));
  change(running);
  await renderWithEngine(<Watched />);
  await screen.findByRole('figure', { name: /^Speed over time/ });
  const input = { runId: running.runId };
  // The query was made before anything had been measured.
  act(() => void queryClient.setQueryData(queries.runs.deviceHistory.queryKey({ input }), []));
  await screen.findByText('The curve appears after about half a minute of computing.');

  change({ ...running, state: { phase: 'done', failedParts: 0, failedRecords: 0 } });
  await screen.findByRole('figure', { name: /^Speed over time/ });
});
