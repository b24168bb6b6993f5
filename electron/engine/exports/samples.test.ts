import { expect, it } from 'vitest';
import type { InputResultSummary } from '../results/types.ts';
import { samplesOf, summariseSamples, viralShare } from './samples.ts';

const found = (input: number, times: number): InputResultSummary => ({
  input,
  sequences: 10 * times,
  byPrediction: { virus: times, others: 2 * times, not_scored: 3 * times, failed: 4 * times },
  bases: 1000 * times,
  viralBases: 70 * times,
});

it('sums up the files of each sample, in the order of the files', () => {
  expect(
    summariseSamples(['gut', 'soil', 'gut', 'empty'], [found(2, 5), found(0, 1), found(1, 100)]),
  ).toEqual([
    {
      sample: 'gut',
      inputs: [0, 2],
      sequences: 60,
      byPrediction: { virus: 6, others: 12, not_scored: 18, failed: 24 },
      bases: 6000,
      viralBases: 420,
    },
    {
      sample: 'soil',
      inputs: [1],
      sequences: 1000,
      byPrediction: { virus: 100, others: 200, not_scored: 300, failed: 400 },
      bases: 100_000,
      viralBases: 7000,
    },
    {
      sample: 'empty',
      inputs: [3],
      sequences: 0,
      byPrediction: { virus: 0, others: 0, not_scored: 0, failed: 0 },
      bases: 0,
      viralBases: 0,
    },
  ]);
});

it('takes the share of viruses among the sequences that have a call', () => {
  const byPrediction = { virus: 1, others: 3, not_scored: 5, failed: 7 };
  expect(viralShare({ byPrediction })).toBe(0.25);
  expect(viralShare({ byPrediction: { ...byPrediction, virus: 0, others: 0 } })).toBeNull();
});

it('takes the names that the user gave, if there is one for each file', () => {
  const inputs = ['/d/a_R1.fastq.gz', '/d/a_R2.fastq.gz'].map((path) => ({ path })) as never;
  const samples = (named: unknown) =>
    samplesOf({ description: { options: { samples: named } } as never, inputs });
  expect(samples(['x', 'y'])).toEqual(['x', 'y']);
  for (const named of [undefined, ['x'], ['x', ''], 'x']) expect(samples(named)).toEqual(['a', 'a']);
});
