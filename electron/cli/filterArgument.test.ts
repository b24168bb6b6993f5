import { describe, expect, it } from 'vitest';
import { CANDIDATES } from '../contract/evidence.ts';
import { AppFailure } from '../contract/errors.ts';
import { filterOf, sortOf } from './filterArgument.ts';

const NAMES = {
  inputs: ['/d/gut_R1.fq', '/d/gut_R2.fq', '/d/soil.fa'],
  samples: ['gut', 'gut', 'soil'],
  others: ['geNomad'],
};

describe('--filter', () => {
  it.each([
    [['virus'], { predictions: ['virus'] }],
    [['virus', 'others', 'score>=0.9'], { predictions: ['virus', 'others'], minScore: 0.9 }],
    [['length>=1000', 'length<=5000', 'chunks>=2'], { minLength: 1000, maxLength: 5000, minScoredChunks: 2 }],
    [['evidence=strong,moderate', 'name=k141'], { evidence: ['strong', 'moderate'], search: 'k141' }],
    [
      ['frames>=10', 'viral>=0.5', 'second>=0.9'],
      { minFramesScored: 10, minViralFraction: 0.5, minSecondScore: 0.9 },
    ],
    [['reason=empty,no_open_frame'], { reasons: ['empty', 'no_open_frame'] }],
    [['sample=gut'], { inputs: [0, 1] }],
    [['file=soil.fa'], { inputs: [2] }],
    [['score>=0.5', 'score<0.9'], { minScore: 0.5, belowScore: 0.9 }],
    [['all'], {}],
    [['candidates'], CANDIDATES],
    [['virus', 'shortlist'], { predictions: ['virus'], shortlisted: true }],
    [['agreement=only_theirs'], { other: { table: 0, agreement: 'only_theirs' } }],
  ])('%j', (words, filter) => {
    expect(filterOf(words, NAMES)).toEqual(filter);
  });

  it('asks all tables of other tools, or the one that it names', () => {
    const asked = (word: string) => filterOf([word], { ...NAMES, others: ['geNomad', 'x:y.tsv'] }).other;
    expect(asked('agreement=both')).toEqual({ table: null, agreement: 'both' });
    expect(asked('agreement=genomad:both')).toEqual({ table: 0, agreement: 'both' });
    expect(asked('agreement=x:y.tsv:no_call')).toEqual({ table: 1, agreement: 'no_call' });
    expect(() => asked('agreement=CheckV:both')).toThrow('CheckV');
  });

  it.each([
    ['score>0.5'],
    ['length<9'],
    ['score>=high'],
    ['score>=2'],
    ['evidence=certain'],
    ['reason=none'],
    ['viral>=2'],
    ['sample=sea'],
    ['agreement=all'],
    ['viruses'],
  ])('refuses %s', (word) => {
    expect(() => filterOf([word], NAMES)).toThrow(AppFailure);
  });

  it('sorts by the named column', () => {
    expect(sortOf('-score')).toEqual({ by: 'virusScore', descending: true });
    expect(sortOf('no')).toEqual({ by: 'row', descending: false });
    expect(sortOf('-best')).toEqual({ by: 'bestScore', descending: true });
    expect(() => sortOf('beauty')).toThrow(AppFailure);
  });
});
