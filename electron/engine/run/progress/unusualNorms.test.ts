import { describe, expect, it } from 'vitest';
import { syntheticPlan } from '../../store/testing/syntheticRun.ts';
import type { RunCounts } from '../../store/types.ts';
import { describeUnusualNorms, unusualNorms } from './remarks.ts';

const plan = syntheticPlan(1);
const published = {
  ...plan,
  model: { ...plan.model, normBands: { esm2: [12, 16], dnabert_s: [2, 5] } },
} satisfies typeof plan;

function counted(outsideNormBand: number): RunCounts {
  return {
    parts: { pending: 0, assigned: 0, done: 1, failed: 0, split: 0, skipped: 0 },
    frames: { total: 50_000, done: 50_000, failed: 0 },
    residues: { total: 1, done: 1, failed: 0 },
    records: 1,
    boundedParts: 0,
    residuesTakenOver: 0,
    recomputedParts: 0,
    repeatedProteins: 0,
    repeatedNucleotides: 0,
    outsideNormBand,
    norms: { esm2: { low: 9.104, high: 1685 }, dnabertS: { low: 2.5, high: 4.1 } },
  };
}

describe('embeddings of unusual size', () => {
  it('are counted, with the measured and the expected norms', () => {
    const norms = unusualNorms(published, counted(1234));
    expect(norms).toMatchObject({
      frames: 1234,
      ofFrames: 50_000,
      esm2: { low: 9.104, high: 1685, expectedLow: 12, expectedHigh: 16 },
    });
    const text = norms ? describeUnusualNorms(norms).text : '';
    expect(text).toContain('1,234 of 50,000 reading frames');
    expect(text).toContain('ESM-2: 9.10 to 1685.00 (expected 12 to 16)');
    expect(text).toContain('DNABERT-S: 2.50 to 4.10 (expected 2 to 5)');
  });

  it('are null if there are none, or no expectation', () => {
    expect(unusualNorms(published, counted(0))).toBeNull();
    expect(unusualNorms(plan, counted(3))).toBeNull();
  });
});
