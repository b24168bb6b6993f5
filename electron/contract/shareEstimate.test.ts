import { expect, it } from 'vitest';
import { estimateText, sharePercent } from './shareEstimate.ts';
import { formatPercent } from './terminal/format.ts';

it('an interval is shown until it has closed, with more decimals where it is near 0', () => {
  expect(estimateText({ share: 0.012, low: 0.0084, high: 0.031 }, formatPercent)).toBe(
    '1.2 % (0.84 %–3.1 %)',
  );
  expect(estimateText({ share: 0, low: 0, high: 0.2 }, formatPercent)).toBe('0.0 % (0.0 %–20.0 %)');
  expect(estimateText({ share: 0.5, low: 0.5, high: 0.5 }, formatPercent)).toBe('50.0 %');
  expect(sharePercent(0.001, formatPercent)).toBe('0.10 %');
});
