import type { SequenceFilter } from './filter.ts';

/** The rule by which a sequence gets its evidence level (electron/engine/results/evidence.ts); docs/results.md and the window
 * state it in words. */
export const EVIDENCE_RULE = {
  /** Fewer scored chunks are weak evidence, whatever they say. */
  scoredChunks: 2,
  /** Share of the scored chunks that must have the sequence's call; with fewer the evidence is weak. */
  agreement: 2 / 3,
  /** A virus with a score below it, or another sequence with at least this, is contradicted by its own score. */
  middle: 0.5,
  strong: {
    length: 1000,
    scoredChunks: 3,
    /** Of all chunks of the sequence. */
    scoredShare: 0.5,
    agreement: 0.9,
    /** What the second-best chunk of a virus must reach. That of another sequence must stay below `middle`. */
    secondScore: 0.7,
  },
} as const;

/** What is worth looking at first: called virus, on more than one scored chunk, and longer than a read. */
export const SHORTLIST = {
  predictions: ['virus'],
  minScoredChunks: 2,
  minLength: 1000,
} satisfies SequenceFilter;

/** What is followed up in the laboratory: called virus, on strong evidence, with a mean that reaches what the second-best chunk must. */
export const CONSERVATIVE = {
  predictions: ['virus'],
  evidence: ['strong'],
  minScore: EVIDENCE_RULE.strong.secondScore,
} satisfies SequenceFilter;
