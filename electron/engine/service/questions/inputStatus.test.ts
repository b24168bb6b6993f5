import { expect, it } from 'vitest';
import type { RunStore } from '../../store/runStore.ts';
import { unusableInputs } from './inputStatus.ts';

it('names every file that a run continues without, whether left out before it began or while it was read', async () => {
  const loadRun = () =>
    Promise.resolve({
      leftOut: [{ path: '/in/empty.fa', code: 'not_sequence_file', message: 'empty.fa holds no sequences.' }],
      inputs: [
        { path: '/in/good.fa', failure: null },
        { path: '/in/cut.fa.gz', failure: { code: 'input_truncated', message: 'cut.fa.gz ends too early.' } },
        { path: '/in/odd.fa', failure: { code: 'of a later version', message: 'odd.fa is odd.' } },
      ],
    });
  const files = await unusableInputs({ loadRun } as unknown as RunStore);
  expect(files.map(({ path, error }) => [path, error.code, error.cause])).toEqual([
    ['/in/empty.fa', 'not_sequence_file', 'empty.fa holds no sequences.'],
    ['/in/cut.fa.gz', 'input_truncated', 'cut.fa.gz ends too early.'],
    ['/in/odd.fa', 'input_unreadable', 'odd.fa is odd.'],
  ]);
});
