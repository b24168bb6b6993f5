import { expect, it } from 'vitest';
import { estimateText, sharePercent } from './shareEstimate.ts';
import { formatPercent } from './terminal/format.ts';

const FORMAT = { percent: formatPercent, range: (low: string, high: string) => `${low} to ${high}` };

it('an interval is shown until it has closed, with more decimals where it is near 0', () => {
  expect(estimateText({ share: 0.012, low: 0.0084, high: 0.031 }, FORMAT)).toBe('1.2 % (0.84 % to 3.1 %)');
  expect(estimateText({ share: 0, low: 0, high: 0.2 }, FORMAT)).toBe('0.0 % (0.0 % to 20.0 %)');
  expect(estimateText({ share: 0.5, low: 0.5, high: 0.5 }, FORMAT)).toBe('50.0 %');
  expect(sharePercent(0.001, FORMAT)).toBe('0.10 %');
});
