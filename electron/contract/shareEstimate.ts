import { z } from 'zod';

/** A share that the finished run will show, with its interval of 95 %. */
export const shareEstimateSchema = z.object({ share: z.number(), low: z.number(), high: z.number() });
export type ShareEstimate = z.infer<typeof shareEstimateSchema>;

export interface ShareFormat {
  percent: (share: number, digits: number) => string;
  range: (low: string, high: string) => string;
}

/** Shares below this need two decimals. */
const SMALL_SHARE = 0.01;

export function sharePercent(share: number, { percent }: Pick<ShareFormat, 'percent'>): string {
  return percent(share, share > 0 && share < SMALL_SHARE ? 2 : 1);
}

/** In brackets; empty once everything is computed and nothing is estimated any more. */
export function intervalText({ low, high }: ShareEstimate, format: ShareFormat): string {
  return low === high ? '' : `(${format.range(sharePercent(low, format), sharePercent(high, format))})`;
}

export function estimateText(estimate: ShareEstimate, format: ShareFormat): string {
  return `${sharePercent(estimate.share, format)} ${intervalText(estimate, format)}`.trimEnd();
}
