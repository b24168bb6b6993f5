import { EVIDENCE_RULE, isTooShort } from '../../contract/evidence.ts';
import type { Evidence, Prediction } from '../../contract/results.ts';
import { LONGEST_READ } from '../../contract/readPairs.ts';
import { matesOf } from '../../contract/samples.ts';
import { VIRUS_FROM } from './sequenceTally.ts';

export interface EvidenceFacts {
  prediction: Prediction;
  virusScore: number | null;
  margin: number | null;
  /** See UNDECIDED_UP_TO in electron/contract/evidence.ts. */
  undecidedUpTo: number;
  length: number;
  chunkLength: number;
  nBasesScored: number;
  nBasesViral: number;
}

/**
 * How strongly the data of a sequence support its call; null if it has none. The level is not a probability:
 * it says how much of the sequence supports the call, and whether its parts agree.
 */
export function evidenceOf(facts: EvidenceFacts): Evidence | null {
  const { prediction, virusScore, margin, length, chunkLength, nBasesScored, nBasesViral } = facts;
  if ((prediction !== 'virus' && prediction !== 'others') || virusScore === null) return null;
  if (margin !== null && margin <= facts.undecidedUpTo) return 'undecided';
  const { scoredChunkLengths, agreement: leastAgreement, strong } = EVIDENCE_RULE;
  const isVirus = prediction === 'virus';
  const agreement = (isVirus ? nBasesViral : nBasesScored - nBasesViral) / nBasesScored;
  if (isTooShort(length) || nBasesScored < scoredChunkLengths * chunkLength || agreement < leastAgreement)
    return 'weak';
  const isStrong =
    nBasesScored >= strong.scoredBases &&
    nBasesScored >= strong.scoredShare * length &&
    agreement >= strong.agreement &&
    (isVirus ? virusScore : 1 - virusScore) >= strong.score;
  return isStrong ? 'strong' : 'moderate';
}

interface Mate {
  name: string;
  length: number;
}
interface CalledMate {
  prediction: Prediction;
  virusScore: number | null;
  nBasesScored: number;
}

/** The joint call of a read and its mate. */
export interface PairCall {
  score: number;
  prediction: 'virus' | 'others';
}

/** Consecutive rows of a run. */
export interface RowRange {
  firstRow: number;
  records: number;
}

interface InputRows {
  path: string;
  prepared: RowRange | null;
}

/** The rows of the mates of an input's sequences, in order; null if the file is not one of a read pair. */
export function mateRows(inputs: readonly InputRows[]): (RowRange | null)[] {
  return matesOf(inputs.map(({ path }) => path)).map((mate) =>
    mate === null ? null : (inputs[mate]?.prepared ?? { firstRow: 0, records: 0 }),
  );
}

/**
 * Whether two sequences at the same position of a pair's two files are the two reads of a fragment: names may
 * end in /1 and /2.
 */
export function areMates(one: Mate, other: Mate): boolean {
  if (Math.max(one.length, other.length) > LONGEST_READ) return false;
  if (one.name === other.name) return true;
  const ends = [one.name.slice(-2), other.name.slice(-2)].sort();
  return ends.join() === '/1,/2' && one.name.slice(0, -2) === other.name.slice(0, -2);
}

/**
 * One call from both mates: the mean of their scores, weighted by scored bases and rounded to float32, and
 * its call.
 * A mate without a call is ignored; null if neither has one.
 */
export function callPair(one: CalledMate, other: CalledMate): PairCall | null {
  let [sum, bases] = [0, 0];
  for (const { prediction, virusScore, nBasesScored } of [one, other]) {
    if (virusScore === null || (prediction !== 'virus' && prediction !== 'others')) continue;
    sum += virusScore * nBasesScored;
    bases += nBasesScored;
  }
  if (bases === 0) return null;
  const score = Math.fround(sum / bases);
  return { score, prediction: score >= VIRUS_FROM ? 'virus' : 'others' };
}
