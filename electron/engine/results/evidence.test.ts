import { describe, expect, it } from 'vitest';
import { evidenceOf, type EvidenceFacts } from './evidence.ts';

/** A virus that nothing speaks against. */
const SURE: EvidenceFacts = {
  prediction: 'virus',
  virusScore: 0.95,
  length: 3000,
  nChunks: 6,
  nChunksScored: 6,
  nChunksViral: 6,
  secondScore: 0.97,
};
const OTHER: EvidenceFacts = {
  ...SURE,
  prediction: 'others',
  virusScore: 0.1,
  nChunksViral: 0,
  secondScore: 0.2,
};

describe('the evidence level', () => {
  it.each<[string, EvidenceFacts, ReturnType<typeof evidenceOf>]>([
    ['a long virus of one voice', SURE, 'strong'],
    ['another sequence of one voice', OTHER, 'strong'],
    ['no call', { ...SURE, prediction: 'not_scored' }, null],
    ['a failed sequence', { ...SURE, prediction: 'failed' }, null],
    ['a single scored chunk', { ...SURE, nChunksScored: 1, nChunksViral: 1, secondScore: null }, 'weak'],
    ['chunks that disagree', { ...SURE, nChunksViral: 3 }, 'weak'],
    ['a score that says otherwise', { ...SURE, virusScore: 0.48 }, 'weak'],
    ['another sequence with a high score', { ...OTHER, virusScore: 0.5 }, 'weak'],
    ['a short sequence', { ...SURE, length: 999 }, 'moderate'],
    ['two scored chunks', { ...SURE, nChunks: 2, nChunksScored: 2, nChunksViral: 2 }, 'moderate'],
    ['most chunks without a score', { ...SURE, nChunks: 13 }, 'moderate'],
    ['two thirds in agreement', { ...SURE, nChunksViral: 4 }, 'moderate'],
    ['other sequences of which a third looks viral', { ...OTHER, nChunksViral: 2 }, 'moderate'],
    ['the least length of strong evidence', { ...SURE, length: 1000 }, 'strong'],
    ['three scored chunks', { ...SURE, nChunks: 3, nChunksScored: 3, nChunksViral: 3 }, 'strong'],
    ['half of the chunks scored', { ...SURE, nChunks: 12 }, 'strong'],
    [
      'nine of ten chunks in agreement',
      { ...SURE, nChunks: 10, nChunksScored: 10, nChunksViral: 9 },
      'strong',
    ],
    ['a second-best chunk that just confirms', { ...SURE, secondScore: 0.7 }, 'strong'],
    ['a second-best chunk that does not confirm', { ...SURE, secondScore: 0.69 }, 'moderate'],
    ['another sequence with two viral-looking chunks', { ...OTHER, secondScore: 0.5 }, 'moderate'],
  ])('of %s', (_, facts, level) => {
    expect(evidenceOf(facts)).toBe(level);
  });
});
