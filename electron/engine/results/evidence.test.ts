import { describe, expect, it } from 'vitest';
import { evidenceOf, type EvidenceFacts } from './sequenceRemarks.ts';

/** A virus with only strong evidence. */
const SURE: EvidenceFacts = {
  prediction: 'virus',
  virusScore: 0.95,
  margin: 0.02,
  undecidedUpTo: 0.01,
  length: 3000,
  chunkLength: 500,
  nBasesScored: 3000,
  nBasesViral: 3000,
};
const OTHER: EvidenceFacts = { ...SURE, prediction: 'others', virusScore: 0.05, nBasesViral: 0 };

/** A sequence of so many bases, all of them scored and viral. */
const viral = (length: number) => ({ length, nBasesScored: length, nBasesViral: length });

describe('the evidence level', () => {
  it.each<[string, EvidenceFacts, ReturnType<typeof evidenceOf>]>([
    ['a long virus of one voice', SURE, 'strong'],
    ['another sequence of one voice', OTHER, 'strong'],
    ['a long virus whose call rounding can turn', { ...SURE, margin: 0.01 }, 'undecided'],
    ['another sequence of that kind', { ...OTHER, margin: 0 }, 'undecided'],
    ['no call', { ...SURE, prediction: 'not_scored', virusScore: null }, null],
    ['a failed sequence', { ...SURE, prediction: 'failed' }, null],
    ['one chunk', { ...SURE, ...viral(500) }, 'weak'],
    ['two chunks that overlap but for one base', { ...SURE, ...viral(501) }, 'weak'],
    ['a chunk and half of another', { ...SURE, ...viral(750) }, 'moderate'],
    ['the same with shorter chunks', { ...SURE, chunkLength: 300, ...viral(450) }, 'moderate'],
    ['a sequence below the shortest length', { ...SURE, chunkLength: 30, ...viral(99) }, 'weak'],
    ['one of the shortest length', { ...SURE, chunkLength: 30, ...viral(100) }, 'moderate'],
    ['bases that disagree', { ...SURE, nBasesViral: 1999 }, 'weak'],
    ['two thirds in agreement', { ...SURE, nBasesViral: 2000 }, 'moderate'],
    ['other sequences of which a third looks viral', { ...OTHER, nBasesViral: 1000 }, 'moderate'],
    ['nine tenths in agreement', { ...SURE, nBasesViral: 2700 }, 'strong'],
    ['less than nine tenths', { ...SURE, nBasesViral: 2699 }, 'moderate'],
    ['1,000 scored bases', { ...SURE, ...viral(1000), length: 2000 }, 'strong'],
    ['fewer', { ...SURE, ...viral(999) }, 'moderate'],
    ['a sequence that is mostly without a score', { ...SURE, length: 6001 }, 'moderate'],
    ['a virus that just reaches the score', { ...SURE, virusScore: 0.7 }, 'strong'],
    ['a virus that does not', { ...SURE, virusScore: 0.69 }, 'moderate'],
    ['another sequence that is low enough', { ...OTHER, virusScore: 0.3 }, 'strong'],
    ['another sequence that is not', { ...OTHER, virusScore: 0.31 }, 'moderate'],
  ])('for %s', (_, facts, level) => {
    expect(evidenceOf(facts)).toBe(level);
  });
});
