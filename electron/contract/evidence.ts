import type { SequenceFilter } from './filter.ts';
import type { Plan } from './plan.ts';

/** Shorter sequences are marked as too short to be believed: with the teaching model, held-out bacterial fragments below this length
 * get scores of 0.9 and more two to three times as often as longer ones (docs/results.md). */
export const SHORTEST_LENGTH = 100;

export function isTooShort(length: number): boolean {
  return length < SHORTEST_LENGTH;
}

/** The rule by which a sequence gets its evidence level (electron/engine/results/sequenceRemarks.ts); docs/results.md and the window
 * state it in words. Bases count once, however many chunks they lie in. */
export const EVIDENCE_RULE = {
  /**
   * Sequences with fewer scored bases, in chunk lengths, have weak evidence: a second chunk must add at least
   * half of one.
   */
  scoredChunkLengths: 1.5,
  /** Share of the scored bases that must have the sequence's call; below it the evidence is weak. */
  agreement: 2 / 3,
  strong: {
    scoredBases: 1000,
    /** Share of all bases of the sequence that must be scored. */
    scoredShare: 0.5,
    agreement: 0.9,
    /** The lowest score of a virus; for other sequences the highest is 1 minus this. */
    score: 0.7,
  },
} as const;

/**
 * Calls with a margin up to this are undecided, as rounding can turn them. These are twice the largest differences from
 * FP32 that were measured of a frame's score, rounded up: with the teaching model (docs/benchmarks/h200-rounding.json; BF16
 * moved one of 63,397 other frames by 0.005), and with random weights of the published shapes (h200-fidelity.json).
 */
const UNDECIDED_UP_TO = {
  teaching: { fp32: 2e-5, fp16: 0.002, bf16: 0.012, fp8: 0.06 },
  others: { fp32: 2e-5, fp16: 0.01, bf16: 0.11, fp8: 0.75 },
} as const;

export const undecidedUpTo = ({ model, precision }: Pick<Plan, 'model' | 'precision'>): number =>
  UNDECIDED_UP_TO[model.name === 'teaching' ? 'teaching' : 'others'][precision];

/** The sequences to look at first: called virus with more than weak evidence, and longer than a read. */
export const CANDIDATES = {
  predictions: ['virus'],
  evidence: ['moderate', 'strong'],
  minLength: 1000,
} satisfies SequenceFilter;

/** The sequences to follow up in the laboratory. */
export const CONSERVATIVE = { predictions: ['virus'], evidence: ['strong'] } satisfies SequenceFilter;
