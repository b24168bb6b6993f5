import { describe, expect, it } from 'vitest';
import { betaBelow, isSettled, turnChance } from './settled.ts';
import { finalShare, partlyScored, simulatedRun, strataAt } from './testing/simulatedRun.ts';
import { estimateShare } from './viralShare.ts';

/** While a file is being read, the front is rounds ahead. */
const whileReading = (place: number): number => (place < 0.2 ? 1 / 2 : 1 / 256);

describe('the estimated share', () => {
  it.each([
    ['reads', 0.03, () => 0.01],
    ['contigs', 0.03, () => 0.01],
    ['huge virus', 0.001, () => 0.01],
    ['lost chunks', 0.4, () => 0.75],
    ['contigs', 0.03, whileReading],
  ] as const)(
    'of %s covers the share of the finished run about as often as it claims',
    (kind, share, turnOf) => {
      const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);
      const covered = seeds.filter((seed) => {
        const run = simulatedRun(kind, share, seed);
        const { low, high } = estimateShare(strataAt(run, turnOf))!;
        expect(high - low).toBeGreaterThan(0);
        return low <= finalShare(run) && finalShare(run) <= high;
      });
      expect(covered.length).toBeGreaterThanOrEqual(34);
    },
  );

  it('narrows, and ends at the share of the finished run', () => {
    const run = simulatedRun('contigs', 0.1, 5);
    const width = (turn: number): number => {
      const { low, high } = estimateShare(strataAt(run, () => turn))!;
      return high - low;
    };
    const widths = [0.01, 0.05, 0.25, 0.9].map(width);
    expect(widths).toEqual(widths.toSorted((a, b) => b - a));
    const end = estimateShare(strataAt(run, () => 1))!;
    expect(end.low).toBe(end.high);
    expect(end.share).toBeCloseTo(finalShare(run), 12);
  });

  it('of nothing or everything viral keeps a width until the last chunk is computed', () => {
    const none = simulatedRun('contigs', 0, 3).map((one) => ({ ...one, scores: one.scores.map(() => 0.1) }));
    const all = none.map((one) => ({ ...one, scores: one.scores.map(() => 0.9) }));
    for (const turn of [0.02, 0.5, 0.97]) {
      const [empty, full] = [none, all].map((run) => estimateShare(strataAt(run, () => turn))!);
      expect([empty!.share, empty!.low, full!.share, full!.high]).toEqual([0, 0, 1, 1]);
      expect(empty!.high).toBeGreaterThan(0);
      expect(full!.low).toBeLessThan(1);
    }
    expect(estimateShare(strataAt(all, () => 1))).toEqual({ share: 1, low: 1, high: 1 });
  });

  it('is null while nothing is scored', () => {
    expect(estimateShare(strataAt(simulatedRun('reads', 0.1, 7), () => 0))).toBeNull();
  });
});

describe('a settled call', () => {
  it('can hardly change', () => {
    let settled = 0;
    for (let seed = 1; seed <= 20; seed++)
      for (const sequence of simulatedRun('mosaics', 0.4, seed)) {
        const known = partlyScored(sequence, 0.1);
        if (known.missingChunks === 0 || !isSettled(known)) continue;
        settled += known.weightedScore >= known.weight / 2 === known.final >= 0.5 ? 1 : -99;
      }
    expect(settled).toBeGreaterThan(1000);
  });

  it('is certain if no score of the missing chunks can change it, and open without a score', () => {
    const half = { weight: 500, squaredWeight: 250_000, missingWeight: 500, missingChunks: 1 };
    expect(turnChance({ ...half, weightedScore: 500 })).toBe(0);
    expect(turnChance({ ...half, weightedScore: 490 })).toBeGreaterThan(0.1);
    expect(turnChance({ ...half, weight: 501, weightedScore: 501 })).toBe(0);
    expect(turnChance({ ...half, weightedScore: 0 })).toBeGreaterThan(0);
    expect(turnChance({ ...half, weight: 0, squaredWeight: 0, weightedScore: 0 })).toBe(1);
    expect(turnChance({ ...half, weightedScore: 250, missingWeight: 0, missingChunks: 0 })).toBe(0);
  });

  it('uses the distribution that it names', () => {
    // I_x(a, b) for integers a and b is a sum of binomial probabilities.
    expect(betaBelow(0.3, 2, 3)).toBeCloseTo(0.3483, 10);
    expect(betaBelow(0.9, 0.5, 0.5)).toBeCloseTo((2 / Math.PI) * Math.asin(Math.sqrt(0.9)), 10);
    expect(betaBelow(0.1, 1, 20)).toBeCloseTo(1 - 0.9 ** 20, 10);
    expect(betaBelow(0.5, 300, 300)).toBeCloseTo(0.5, 10);
  });
});
