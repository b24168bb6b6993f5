import { sum, type LengthScores, type LengthShare } from '../../../../electron/contract/index.ts';
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

export const lengthLabel = ({ format }: Texts, { from, to }: LengthShare) =>
  to === null ? `≥ ${format.bases(from)}` : `${format.bases(from)} – ${format.bases(to)}`;

/** Labels lengths at the edges of their bins; the last bin has no upper limit. */
export function lengthTicks(bins: readonly LengthShare[], { format }: Texts) {
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
