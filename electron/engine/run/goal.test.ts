import { expect, it } from 'vitest';
import { compute, preparedRun } from '../store/testing/storeFixture.ts';
import { recordOf } from '../store/testing/syntheticRun.ts';
import { isReached } from './goal.ts';
const narrow = (share: number) => ({ kind: 'half_width', share }) as const;

it('a run reaches a width when the samples are known so well', async () => {
  // Reads first, then contigs that are others from end to end: their last chunks turn nothing.
  const reads = Array.from({ length: 40 }, (_, index) => recordOf(`read${index}`, [1]));
  const contigs = Array.from({ length: 8 }, (_, index) =>
    recordOf(`contig${index}`, new Array<number>(40).fill(1)),
  );
  const roundOf = (row: number, chunk: number): number =>
    (row < reads.length ? row : chunk) % 8 === 0 ? 0 : 1;
  const run = await preparedRun([[...reads, ...contigs]], { framesPerPart: 1, roundOf }, { order: 'sample' });
  const parts = await run.store.pendingParts();
  const isNow = (goal: Parameters<typeof isReached>[0]) => isReached(goal, run.store, 0);
  expect(await isNow(narrow(0.5))).toBe(false);

  // Every part is one chunk.
  for (const { key, round } of parts) if (round === 0) await compute(run, key, () => 0.1);
  expect([await isNow(narrow(0.5)), await isNow(narrow(0.0005))]).toEqual([true, false]);
  await run.store.close();
});
