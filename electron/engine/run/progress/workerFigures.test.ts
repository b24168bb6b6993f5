import { expect, it } from 'vitest';
import type { PartDone } from '../../../contract/protocol/index.ts';
import { WorkerFigures } from './workerFigures.ts';

const GB = 1e9;
const done = (peak: number, allocated: number | null = null, batches = 10, tokens = 9_500): PartDone =>
  ({
    esm2_batches: batches,
    esm2_tokens: tokens,
    peak_memory_bytes: peak,
    peak_allocated_bytes: allocated,
  }) as PartDone;

const figuresOf = (parts: readonly PartDone[]): WorkerFigures => {
  const figures = new WorkerFigures(1_000);
  for (const part of parts) figures.take(part);
  return figures;
};
const parts = (count: number, part: (i: number) => PartDone) =>
  Array.from({ length: count }, (_, i) => part(i));

it('measures how full batches were, and what of the memory is held and not used', () => {
  expect(figuresOf([]).facts()).toBeNull();
  expect(figuresOf(parts(40, (i) => done((7 + (i % 2) / 10) * GB, 6.5 * GB))).facts()).toEqual({
    batchFillPercent: 95,
    batchesPerPart: 10,
    fragmentedPercent: 7.1,
    memoryGrowthPercent: 0,
  });
  expect(figuresOf(parts(30, () => done(8 * GB, null))).facts()?.fragmentedPercent).toBeNull();
});

it('measures memory that grows and does not come back, but not a single large part, afresh after a restart', () => {
  const single = figuresOf(parts(40, (i) => done(i === 30 ? 20 * GB : 4 * GB)));
  expect(single.facts()?.memoryGrowthPercent).toBe(0);
  const growing = figuresOf(parts(60, (i) => done((4 + i / 10) * GB)));
  // From at most 4.9 GB in the first ten parts to at least 9 GB in the last ten.
  expect(growing.facts()?.memoryGrowthPercent).toBe(83.7);
  growing.restarted();
  growing.take(done(10 * GB));
  expect(growing.facts()?.memoryGrowthPercent).toBeNull();
});
