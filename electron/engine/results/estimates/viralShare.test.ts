import { describe, expect, it } from 'vitest';
import { finalShare, simulatedRun, SimulatedWork } from './testing/simulatedRun.ts';
import { estimateShare } from './viralShare.ts';

/** A run that was read and of which this share is computed. */
function workAt(run: ReturnType<typeof simulatedRun>, share: number): SimulatedWork {
  const work = new SimulatedWork(run, 100);
  work.read();
  if (share > 0) work.computeFirstRound();
  work.compute(share);
  return work;
}

describe('the estimated share', () => {
  it.each([
    ['reads', 0.03, 0.01],
    ['read clumps', 0.1, 0.9],
    ['sorted reads', 0.03, 0.6],
    ['contigs', 0.03, 0.01],
    ['huge virus', 0.001, 0.01],
    ['lost chunks', 0.4, 0.75],
    ['contigs', 0.03, 0.4],
    ['long reads', 0.03, 0.9],
  ] as const)(
    'of %s covers the share of the finished run about as often as it claims',
    (kind, share, computed) => {
      const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);
      const covered = seeds.filter((seed) => {
        const run = simulatedRun(kind, share, seed);
        const { low, high } = estimateShare(workAt(run, computed).known())!;
        expect(high - low).toBeGreaterThan(0);
        return low <= finalShare(run) && finalShare(run) <= high;
      });
      expect(covered.length).toBeGreaterThanOrEqual(34);
    },
  );

  it('narrows, and ends at the share of the finished run', () => {
    const run = simulatedRun('contigs', 0.1, 5);
    const width = (turn: number): number => {
      const { low, high } = estimateShare(workAt(run, turn).known())!;
      return high - low;
    };
    const widths = [0.01, 0.05, 0.25, 0.9].map(width);
    expect(widths).toEqual(widths.toSorted((a, b) => b - a));
    const end = estimateShare(workAt(run, 1).known())!;
    expect(end.low).toBe(end.high);
    expect(end.share).toBeCloseTo(finalShare(run), 12);
  });

  it('of nothing or everything viral keeps a width until the last chunk is computed', () => {
    const none = simulatedRun('contigs', 0, 3).map((one) => ({ ...one, scores: one.scores.map(() => 0.1) }));
    const all = none.map((one) => ({ ...one, scores: one.scores.map(() => 0.9) }));
    for (const turn of [0.02, 0.5, 0.97]) {
      const [empty, full] = [none, all].map((run) => estimateShare(workAt(run, turn).known())!);
      expect([empty!.share, empty!.low, full!.share, full!.high]).toEqual([0, 0, 1, 1]);
      expect(empty!.high).toBeGreaterThan(0);
      expect(full!.low).toBeLessThan(1);
    }
    expect(estimateShare(workAt(all, 1).known())).toEqual({ share: 1, low: 1, high: 1 });
  });

  it('is null while nothing is scored', () => {
    expect(estimateShare(workAt(simulatedRun('reads', 0.1, 7), 0).known())).toBeNull();
  });
});
