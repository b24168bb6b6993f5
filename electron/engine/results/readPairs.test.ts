import { describe, expect, it } from 'vitest';
import { areMates, callPair, mateRows } from './sequenceRemarks.ts';

const read = (name: string, length = 150) => ({ name, length });
const called = (virusScore: number, nBasesScored = 150) => ({
  prediction: virusScore >= 0.5 ? ('virus' as const) : ('others' as const),
  virusScore: Math.fround(virusScore),
  nBasesScored,
});
const uncalled = { prediction: 'not_scored' as const, virusScore: null, nBasesScored: 0 };

describe('read pairs', () => {
  it('are recognised by their file names and read names', () => {
    const input = (path: string, firstRow: number) => ({ path, prepared: { records: 5, firstRow } });
    const inputs = [input('/d/a_R1.fq', 0), input('/d/soil.fa', 5), input('/d/a_R2.fq', 10)];
    expect(mateRows(inputs)).toEqual([{ records: 5, firstRow: 10 }, null, { records: 5, firstRow: 0 }]);
    // The mate has not been read yet.
    expect(mateRows([inputs[0]!, { path: '/d/a_R2.fq', prepared: null }])).toEqual([
      ...[
        { records: 0, firstRow: 0 },
        { records: 5, firstRow: 0 },
      ],
    ]);
    expect(areMates(read('r1'), read('r1'))).toBe(true);
    expect(areMates(read('r1/1'), read('r1/2'))).toBe(true);
    expect(areMates(read('read_7/2', 1000), read('read_7/1', 1000))).toBe(true);
    for (const [one, other] of [
      ['r1', 'r2'],
      ['read_7/1', 'read_8/2'],
      ['r1/1', 'r1/3'],
    ] as const)
      expect(areMates(read(one), read(other))).toBe(false);
    // Contigs of two assemblies whose files have pair names.
    expect(areMates(read('contig_1', 1001), read('contig_1'))).toBe(false);
  });

  it('have one call from both mates, which follows from its score and is the same in either order', () => {
    expect(callPair(called(0.9), called(0.2))).toEqual({
      score: Math.fround((0.9 + 0.2) / 2),
      prediction: 'virus',
    });
    expect(callPair(called(0.9, 50), called(0.2))).toMatchObject({ prediction: 'others' });
    expect(callPair(called(0.75), called(0.25))).toEqual({ score: 0.5, prediction: 'virus' });
    for (const [a, b] of [
      [0.1, 0.83],
      [0.30000001, 0.7],
      [0.5, 0.49999997],
    ] as const)
      expect(callPair(called(a, 101), called(b, 148))).toEqual(callPair(called(b, 148), called(a, 101)));
  });

  it('have the call of the only mate with a call, and none without', () => {
    expect(callPair(called(0.9), uncalled)).toEqual({ score: Math.fround(0.9), prediction: 'virus' });
    const failed = { prediction: 'failed' as const, virusScore: 0.9, nBasesScored: 100 };
    expect(callPair(failed, called(0.2))).toEqual({ score: Math.fround(0.2), prediction: 'others' });
    expect(callPair(uncalled, failed)).toBeNull();
  });
});
