import { z } from 'zod';
import { countSchema } from './protocol/common.ts';

/**
 * Sequences by length and score: `virus[i][j]` counts those with lengths from `edges[i]` to below the next edge
 * (the last bin is open) in score bin j of equal width; `notScored[i]` those without a score.
 */
export const lengthScoresSchema = z.object({
  edges: z.array(countSchema),
  virus: z.array(z.array(countSchema)),
  others: z.array(z.array(countSchema)),
  notScored: z.array(countSchema),
});
export type LengthScores = z.infer<typeof lengthScoresSchema>;

/** No sequence yet. */
export function noLengthScores(edges: readonly number[], bins: number): LengthScores {
  const none = () => edges.map(() => new Array<number>(bins).fill(0));
  return { edges: [...edges], virus: none(), others: none(), notScored: edges.map(() => 0) };
}

export const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Counts by score, for each call. */
export function scoresByCall({ virus, others }: LengthScores): { virus: number[]; others: number[] } {
  const perScore = (lengths: readonly (readonly number[])[]) =>
    (lengths[0] ?? []).map((_, bin) => sum(lengths.map((scores) => scores[bin] ?? 0)));
  return { virus: perScore(virus), others: perScore(others) };
}

export interface LengthShare {
  from: number;
  /** Null for the last bin, which has no upper limit. */
  to: number | null;
  /** How many sequences the share is of, and how many have what it counts. */
  of: number;
  counted: number;
  /** Null if there are none. */
  share: number | null;
}

/** By length, the share of viruses among the sequences with a call, or of those without a score among these and the former. */
export function sharesByLength(
  { edges, ...found }: LengthScores,
  what: 'virus' | 'notScored',
): LengthShare[] {
  const bars = edges.map((from, i) => {
    const [virus, others] = [sum(found.virus[i] ?? []), sum(found.others[i] ?? [])];
    const notScored = found.notScored[i] ?? 0;
    const counted = what === 'virus' ? virus : notScored;
    const of = virus + others + (what === 'virus' ? 0 : notScored);
    return { from, to: edges[i + 1] ?? null, of, counted, share: of === 0 ? null : counted / of };
  });
  // An empty bin between others keeps its place.
  const [first, last] = [bars.findIndex(({ of }) => of > 0), bars.findLastIndex(({ of }) => of > 0)];
  return bars.slice(first, last + 1);
}
