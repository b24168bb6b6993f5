import { z } from 'zod';

/** A share that the finished run will show, with its interval of 95 %. */
export const shareEstimateSchema = z.object({ share: z.number(), low: z.number(), high: z.number() });
export type ShareEstimate = z.infer<typeof shareEstimateSchema>;

type Percent = (share: number, digits: number) => string;

/** Shares below this need two decimals. */
const SMALL_SHARE = 0.01;

/** A viral share, with the same digits wherever it is shown; null if there is none. */
export function sharePercent(share: number | null, percent: Percent): string {
  return share === null ? '–' : percent(share, share > 0 && share < SMALL_SHARE ? 2 : 1);
}

/** In brackets; empty once everything is computed and nothing is estimated any more. */
export function intervalText({ low, high }: ShareEstimate, percent: Percent): string {
  return low === high ? '' : `(${sharePercent(low, percent)}–${sharePercent(high, percent)})`;
}

export function estimateText(estimate: ShareEstimate, percent: Percent): string {
  return `${sharePercent(estimate.share, percent)} ${intervalText(estimate, percent)}`.trimEnd();
}
