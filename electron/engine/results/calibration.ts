import type { Trusted } from '../../contract/plan.ts';
import { LENGTH_CLASSES, type Calibration } from '../../contract/rpc/computer.ts';

/**
 * With fewer trusted sequences in a length class, even the highest score would not reach a p-value of 0.05.
 */
const FEWEST_TRUSTED = 19;
const THRESHOLDS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];

/** The 100 highest scores are kept, and below them one for every twentieth of a rank. */
const EXACT_RANKS = 100;
const RANK_STEP = 1.05;

/** The score of one sequence of a file with a known answer. */
export interface LabelledScore {
  length: number;
  /** Null without a score. */
  score: number | null;
}

/** How a model scored sequences with a known answer, by length. */
export function calibrate(
  viral: readonly LabelledScore[],
  other: readonly LabelledScore[],
): Calibration['classes'] {
  return LENGTH_CLASSES.map((from, place) => {
    const below = LENGTH_CLASSES[place + 1] ?? Infinity;
    const inClass = (all: readonly LabelledScore[]) =>
      all.flatMap(({ length, score }) => (length >= from && length < below ? [score] : []));
    const [viruses, others] = [inClass(viral), inClass(other)];
    const trusted = others.filter((score) => score !== null).sort((a, b) => b - a);
    return {
      from,
      viral: { sequences: viruses.length, scored: viruses.filter((score) => score !== null).length },
      other: { sequences: others.length, scored: trusted.length },
      thresholds: THRESHOLDS.map((threshold) => ({
        threshold,
        viralAbove: viruses.filter((score) => score !== null && score >= threshold).length,
        otherAbove: trusted.filter((score) => score >= threshold).length,
      })),
      trustedScores: keptRanks(trusted.length).map((rank) => trusted[rank - 1]!),
    };
  });
}

/**
 * How often one of the trusted sequences in the same length class would score as high: (1 + number of trusted
 * scores >= score) / (n + 1), the conformal p-value (Vovk, Gammerman & Shafer 2005, Algorithmic Learning in a
 * Random World, ch. 2). If not all ranks are kept, the next kept one counts, so that the value is up to 5 %
 * too large and never too small. As a float32.
 * Null without a score, and if the class has too few trusted sequences.
 */
export function pValue(trusted: Trusted | null, length: number, score: number | null): number | null {
  const own = trusted?.classes.findLast(({ from }) => length >= from);
  if (!own || score === null || own.scored < FEWEST_TRUSTED) return null;
  const ranks = keptRanks(own.scored);
  let [low, high] = [0, ranks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (own.scores[middle]! >= score) low = middle + 1;
    else high = middle;
  }
  const atLeast = low === ranks.length ? own.scored : ranks[low]! - 1;
  return Math.fround((1 + atLeast) / (own.scored + 1));
}

/** Which of `count` scores in descending order are kept, numbered from 1. */
function keptRanks(count: number): number[] {
  const ranks: number[] = [];
  for (let rank = 1; rank <= count; rank = rank < EXACT_RANKS ? rank + 1 : Math.ceil(rank * RANK_STEP))
    ranks.push(rank);
  return ranks;
}
