import {
  scoresByCall,
  sum,
  withoutEmptyEnds,
  type LengthBin,
  type LengthScores,
} from '../../../../electron/contract/index.ts';
import type { Texts } from '../../../i18n/index.ts';

/** How many of the engine's score bins make one bin of a plot. */
export const MERGED = 5;

/** Adds up `every` bins next to each other. */
export function merged(counts: readonly number[], every: number): number[] {
  return Array.from({ length: Math.ceil(counts.length / every) }, (_, bin) =>
    sum(counts.slice(bin * every, (bin + 1) * every)),
  );
}

/** Whether no sequence has a call. */
export function isEmpty({ virus, others }: LengthScores): boolean {
  return [...virus, ...others].every((scores) => sum(scores) === 0);
}

/** How many sequences have at least each score, from the highest non-empty bin down: exact at the edges of the bins. */
export function rankedScores(found: LengthScores): { score: number; rank: number }[] {
  const { virus, others } = scoresByCall(found);
  const points: { score: number; rank: number }[] = [];
  let rank = 0;
  for (let bin = virus.length - 1; bin >= 0; bin--) {
    const count = (virus[bin] ?? 0) + (others[bin] ?? 0);
    if (count === 0) continue;
    rank += count;
    points.push({ score: bin / virus.length, rank });
  }
  return points;
}

/** Counts sequences of both calls by length and score, with `every` score bins merged into one. */
export function lengthScoreGrid(
  { edges, virus, others }: LengthScores,
  every: number,
): (LengthBin & { counts: number[] })[] {
  const rows = edges.map((from, i) => {
    const both = (virus[i] ?? []).map((count, bin) => count + (others[i]?.[bin] ?? 0));
    return { from, to: edges[i + 1] ?? null, counts: merged(both, every) };
  });
  return withoutEmptyEnds(rows, ({ counts }) => sum(counts));
}

type Limit = number | null | undefined;

/** The part of a filter that corresponds to a bin of scores, or of lengths. */
export interface Scores {
  readonly minScore?: Limit;
  readonly belowScore?: Limit;
}
export interface Lengths {
  readonly minLength?: Limit;
  readonly maxLength?: Limit;
}

export const scoresOf = (bin: number, bins: number): Scores => ({
  minScore: bin === 0 ? null : bin / bins,
  belowScore: bin + 1 >= bins ? null : (bin + 1) / bins,
});

export const lengthsOf = ({ from, to }: LengthBin): Lengths => ({
  minLength: from === 0 ? null : from,
  maxLength: to === null ? null : to - 1,
});

/** The part of the scale that a filter lets through; null if it limits nothing. */
export const chosenScores = ({ minScore = null, belowScore = null }: Scores): [number, number] | null =>
  minScore === null && belowScore === null ? null : [minScore ?? 0, belowScore ?? 1];

/** The same for lengths, in bins of equal width. */
export function chosenLengths(
  bins: readonly LengthBin[],
  { minLength = null, maxLength = null }: Lengths,
): [number, number] | null {
  if (minLength === null && maxLength === null) return null;
  const place = (length: number): number => {
    const index = bins.findIndex(({ to }) => to === null || length < to);
    const bin = bins[index];
    if (!bin) return bins.length;
    const width = bin.to === null ? Infinity : bin.to - bin.from;
    return index + Math.max(0, length - bin.from) / width;
  };
  return [place(minLength ?? 0), maxLength === null ? bins.length : place(maxLength + 1)];
}

export const lengthLabel = ({ format }: Texts, { from, to }: LengthBin) =>
  to === null ? `≥ ${format.bases(from)}` : `${format.bases(from)} – ${format.bases(to)}`;

/** Labels lengths at the edges of their bins; the last bin has no upper limit. */
export function lengthTicks(bins: readonly LengthBin[], { format }: Texts) {
  const domain: [number, number] = [0, Math.max(1, bins.length)];
  return {
    ticks: Array.from({ length: bins.length + 1 }, (_, edge) => edge),
    domain,
    tickFormatter: (edge: number) => {
      const length = bins[edge]?.from ?? bins[edge - 1]?.to ?? null;
      return length === null ? '' : format.compact(length);
    },
  };
}
