import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { useRuns } from '../../../state/runs/runs.ts';
import { madeRunNamed } from '../../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { DevicesTable } from './DevicesTable.tsx';

const drawn = vi.hoisted(() => vi.fn(() => null));
vi.mock(import('../../../components/charts/TimeCurve.tsx'), () => ({ TimeCurve: drawn as never }));

function Watched() {
  const run = useRuns((state) => state.runs?.[0]);
  return run ? <DevicesTable run={run} /> : null;
}

it('draws the curves of devices once, however often the run at work changes', async () => {
  const user = userEvent.setup();
  const running = madeRunNamed('running');
  const change = (fraction: number) => act(() => useRuns.setState({ runs: [{ ...running, fraction }] }));
  change(0);
  await renderWithEngine(<Watched />);
  await user.click(await screen.findByRole('button', { name: 'Curves of each device' }));
  await vi.waitFor(() => expect(drawn).toHaveBeenCalled());
  const before = drawn.mock.calls.length;
  for (let percent = 1; percent < 10; percent++) change(percent / 100);
  expect(drawn.mock.calls.length).toBe(before);
});
