import { expect, it } from 'vitest';
import type { RunStore } from '../../store/runStore.ts';
import { unusableInputs } from './inputStatus.ts';

it('names every file that a run continues without, whether left out before it began or while it was read', async () => {
  const loadRun = () =>
    Promise.resolve({
      leftOut: [{ path: '/in/empty.fa', code: 'flat_file', values: {} }],
      inputs: [
        { path: '/in/good.fa', failure: null },
        { path: '/in/cut.fa.gz', failure: { code: 'input_truncated', values: {} } },
        { path: '/in/odd.fa', failure: { code: 'input_unreadable', values: { reason: 'no such device' } } },
      ],
    });
  const files = await unusableInputs({ loadRun } as unknown as RunStore);
  expect(files.map(({ path, error }) => [path, error.code, error.cause])).toEqual([
    ['/in/empty.fa', 'flat_file', 'GenBank or EMBL file.'],
    ['/in/cut.fa.gz', 'input_truncated', 'Compressed data are cut off.'],
    ['/in/odd.fa', 'input_unreadable', 'It cannot be read: no such device.'],
  ]);
});
