import type { LengthBin } from '../../../../electron/contract/index.ts';
import type { Texts } from '../../../i18n/index.ts';

export const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Adds up `every` bins next to each other. */
export function merged(counts: readonly number[], every: number): number[] {
  return Array.from({ length: Math.ceil(counts.length / every) }, (_, bin) =>
    sum(counts.slice(bin * every, (bin + 1) * every)),
  );
}

/** By length, the share of viruses among the sequences with a call, or of those without a score among these and the former. */
export function sharesByLength(bins: readonly LengthBin[], what: 'virus' | 'not_scored') {
  const shares = bins.map(({ from, to, ...found }) => {
    const of = found.virus + found.others + (what === 'virus' ? 0 : found.not_scored);
    return { from, to, of, counted: found[what], share: of === 0 ? null : found[what] / of };
  });
  // An empty bin between others keeps its place.
  const [first, last] = [shares.findIndex(({ of }) => of > 0), shares.findLastIndex(({ of }) => of > 0)];
  return shares.slice(first, last + 1);
}

type LengthRange = Pick<LengthBin, 'from' | 'to'>;

export const lengthLabel = ({ format }: Texts, { from, to }: LengthRange) =>
  to === null ? `≥ ${format.bases(from)}` : `${format.bases(from)} – ${format.bases(to)}`;

/** Labels lengths at the edges of their bins; the last bin has no upper limit. */
export function lengthTicks(bins: readonly LengthRange[], { format }: Texts) {
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
