import { expect, it } from 'vitest';
import { formatBytes, formatCount, formatMeasures, formatPercent } from './format.ts';

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1000, '1 kB'],
  [999_499, '999 kB'],
  [999_500, '1 MB'],
  [2_040_000, '2.04 MB'],
  [85_900_000_000, '85.9 GB'],
  [4.2e15, '4,200 TB'],
])('writes %d bytes as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it('writes counts and shares', () => {
  expect(formatCount(1_234_567.8)).toBe('1,234,568');
  expect(formatPercent(0.984)).toBe('98 %');
  expect(formatPercent(0.5, 1)).toBe('50.0 %');
});

it('leaves out what was not measured', () => {
  const nothing = { utilizationPercent: null, memoryBytes: null, powerW: null, residuesPerSecond: null };
  expect(formatMeasures(nothing)).toBe('nothing measured');
  expect(formatMeasures({ ...nothing, utilizationPercent: 99.6, powerW: 0 })).toBe('100 % busy, 0 W');
  expect(formatMeasures({ ...nothing, residuesPerSecond: 41_234.5, memoryBytes: 8.1e9 })).toBe(
    '41,235 residues/s, 7.5 GB',
  );
});
