import {
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
