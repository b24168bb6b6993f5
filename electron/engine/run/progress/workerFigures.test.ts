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

const figuresOf = (parts: readonly PartDone[]) => {
  const figures = new WorkerFigures({ id: 'GPU-1', name: 'H200' }, 1_000);
  const said = parts.flatMap((part, i) => {
    const remark = figures.take(part);
    return remark ? [{ after: i + 1, code: remark.code }] : [];
  });
  return { figures, said };
};

it('says how full batches were, and nothing of a worker whose memory stays as it is', () => {
  const { figures, said } = figuresOf(
    Array.from({ length: 40 }, (_, i) => done((7 + (i % 2) / 10) * GB, 6.5 * GB)),
  );
  expect(said).toEqual([]);
  expect(figures.facts()).toEqual({
    batchFillPercent: 95,
    batchesPerPart: 10,
    fragmentedPercent: 7.1,
    memoryGrowthPercent: 0,
  });
});

it('warns once of memory that grows and does not come back, but not of a single large part', () => {
  const single = figuresOf(Array.from({ length: 40 }, (_, i) => done(i === 30 ? 20 * GB : 4 * GB)));
  expect(single.said).toEqual([]);
  const growing = figuresOf(Array.from({ length: 60 }, (_, i) => done((4 + i / 10) * GB)));
  expect(growing.said.map(({ code }) => code)).toEqual(['memory_grows']);
  growing.figures.restarted();
  expect(growing.figures.take(done(10 * GB))).toBeNull();
  expect(growing.figures.facts()?.memoryGrowthPercent).toBeNull();
});

it('warns once of memory that is held and cannot be used, where there is a count of it', () => {
  const held = figuresOf(Array.from({ length: 30 }, () => done(8 * GB, 4 * GB)));
  expect(held.said).toEqual([{ after: 10, code: 'memory_fragmented' }]);
  expect(held.figures.facts()?.fragmentedPercent).toBe(50);
  const uncounted = figuresOf(Array.from({ length: 30 }, () => done(8 * GB, null)));
  expect([uncounted.said, uncounted.figures.facts()?.fragmentedPercent]).toEqual([[], null]);
});
