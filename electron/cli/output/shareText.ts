import type { ShareSoFar } from '../../contract/rpc/runs.ts';
import { formatCount } from '../../engine/index.ts';

/** The viral share of a run or a sample with its interval, where there is one, and what it rests on. */
export function shareText({ unit, viral, scored, total, estimate }: ShareSoFar, isSample: boolean): string {
  if (scored === 0) return 'nothing computed yet';
  const of = `${formatCount(scored)} of ${formatCount(total)} ${unit}`;
  if (estimate === null)
    return `${formatCount(viral)} of ${of}, ${isSample ? 'no estimate until the files are read and a 256th of each is computed' : 'computed in the order of the files'}`;
  const { share, low, high } = estimate;
  return low === high
    ? `${percent(share)} % (all ${formatCount(scored)} ${unit})`
    : `${percent(share)} % (${percent(low)} to ${percent(high)} %, from ${of})`;
}

function percent(share: number): string {
  return (100 * share).toFixed(share < 0.01 ? 2 : 1);
}
