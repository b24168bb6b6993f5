import { matesOf } from '../../contract/samples.ts';
import type { Prediction, SequenceResult } from '../../contract/results.ts';
import { VIRUS_FROM } from './chunkCall.ts';

/** Longer sequences are not reads, whatever the names of two files suggest. */
const LONGEST_READ = 1000;

interface Mate {
  name: string;
  length: number;
}
interface CalledMate {
  prediction: Prediction;
  virusScore: number | null;
  nBasesScored: number;
}

type PairCall = NonNullable<SequenceResult['pair']>;

interface InputRows {
  path: string;
  prepared: { records: number; firstRow: number } | null;
}

/** The rows of the mates of an input's sequences, in order; null if the file is not one of a read pair. */
export function mateRows(inputs: readonly InputRows[]): ({ firstRow: number; records: number } | null)[] {
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
  if (one.name === other.name) return one.name !== '';
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
