import { expect, it } from 'vitest';
import type { PartDone } from '../../../contract/protocol/index.ts';
import { WorkerWatch } from './workerWatch.ts';

// Packing, fragmentation and growing memory are to be measured and warned of by the founding documents.
const GB = 1e9;
const done = (peak: number, allocated: number | null = null): PartDone =>
  ({
    esm2_batches: 10,
    esm2_tokens: 9_500,
    peak_memory_bytes: peak,
    peak_allocated_bytes: allocated,
  }) as PartDone;

function watch(parts: readonly PartDone[]): { watch: WorkerWatch; remarks: string[] } {
  const one = new WorkerWatch({ id: 'GPU-1', name: 'H200' }, 1_000);
  const remarks = parts.flatMap((part) => {
    one.take(part);
    return one.remark()?.code ?? [];
  });
  return { watch: one, remarks };
}
const parts = (count: number, part: (index: number) => PartDone): PartDone[] =>
  Array.from({ length: count }, (_, index) => part(index));

it('measures how full batches were, and says nothing of memory that stays as it is', () => {
  const steady = watch(parts(40, (index) => done((7 + (index % 2) / 10) * GB, 6.5 * GB)));
  expect(steady.watch.figures()).toEqual({
    batchFillPercent: 95,
    fragmentedPercent: 7.1,
    memoryGrowthPercent: 0,
  });
  expect(steady.remarks).toEqual([]);
});

it('remarks once on memory that grows and does not come back, and not on a single large part', () => {
  expect(watch(parts(40, (index) => done(index === 30 ? 20 * GB : 4 * GB))).remarks).toEqual([]);
  const growing = watch(parts(60, (index) => done((4 + index / 10) * GB)));
  expect(growing.remarks).toEqual(['memory_grows']);
  // From at most 4.9 GB in the first ten parts to at least 9 GB in the last ten.
  expect(growing.watch.figures().memoryGrowthPercent).toBe(83.7);
  growing.watch.restarted();
  growing.watch.take(done(10 * GB));
  expect(growing.watch.figures().memoryGrowthPercent).toBeNull();
});

it('remarks once on memory that is held and not used, where the device counts it', () => {
  const held = watch(parts(30, () => done(8 * GB, 4 * GB)));
  expect(held.remarks).toEqual(['memory_fragmented']);
  expect(held.watch.figures().fragmentedPercent).toBe(50);
  expect(watch(parts(30, () => done(8 * GB))).watch.figures().fragmentedPercent).toBeNull();
});
