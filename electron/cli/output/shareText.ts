import type { ShareSoFar } from '../../contract/rpc/runs.ts';
import { intervalText, sharePercent } from '../../contract/shareEstimate.ts';
import { formatCount, formatPercent } from '../../engine/index.ts';

const FORMAT = { percent: formatPercent, range: (low: string, high: string) => `${low} to ${high}` };

/** The viral share of a run or a sample with its interval, where there is one, and what it rests on. */
export function shareText({ unit, viral, scored, total, estimate }: ShareSoFar, isSample: boolean): string {
  if (scored === 0) return 'nothing computed yet';
  const of = `${formatCount(scored)} of ${formatCount(total)} ${unit}`;
  if (estimate === null)
    return `${formatCount(viral)} of ${of}, ${isSample ? 'no estimate until the files are read and a 256th of each is computed' : 'computed in the order of the files'}`;
  const interval = intervalText(estimate, FORMAT);
  const basis = interval === null ? `all ${formatCount(scored)} ${unit}` : `${interval}, from ${of}`;
  return `${sharePercent(estimate.share, FORMAT)} (${basis})`;
}
