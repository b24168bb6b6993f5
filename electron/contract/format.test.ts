import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFormats, splitDuration } from './format.ts';

const en = createFormats('en-GB');
const de = createFormats('de-DE');

describe('numbers', () => {
  it.each([
    [999, '999 bp'],
    [1500, '1,500 bp'],
    [35_496_000, '35.5 Mbp'],
  ])('writes %d bases as %s', (count, text) => {
    expect(en.bases(count)).toBe(text);
  });

  it('uses decimal units for files and binary ones for graphics memory', () => {
    expect(en.fileSize(48_200_000)).toBe('48.2 MB');
    expect([1, 404].map(en.fileSize)).toEqual(['1 byte', '404 bytes']);
    expect(de.fileSize(404)).toBe('404 Byte');
    expect(en.memory(24 * 2 ** 30)).toBe('24.0 GB');
    expect(en.memory(141 * 2 ** 30)).toBe('141 GB');
  });

  it.each([
    [41_000, '41,000'],
    [245.3, '245'],
    [32, '32.0'],
    [0, '0.00'],
  ])('writes a speed of %d as %s', (value, text) => {
    expect(en.rate(value)).toBe(text);
  });

  it('writes scores with four digits and the decimal separator of the language', () => {
    expect(en.score(0.5)).toBe('0.5000');
    expect(de.score(0.98765)).toBe('0,9877');
  });
});

describe('durations', () => {
  it('are never shown as zero', () => {
    expect(en.duration(0)).toBe('0 sec');
    expect(en.duration(0.4)).toBe('0 sec');
  });

  it('never show more than two units, and drop at most the smaller ones', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 * 86_400 }), (seconds) => {
        const { days = 0, hours = 0, minutes = 0, seconds: rest = 0 } = splitDuration(seconds);
        const parts = [days, hours, minutes, rest].filter((part) => part > 0);
        const shown = days * 86_400 + hours * 3600 + minutes * 60 + rest;
        expect(parts.length).toBeLessThanOrEqual(2);
        expect(seconds - shown).toBeGreaterThanOrEqual(0);
        expect(seconds - shown).toBeLessThan(days > 0 ? 3600 : hours > 0 ? 60 : 1);
      }),
    );
  });

  it.each([
    [20 * 60, 30 * 60, '20–30 min'],
    [20, 41, '20–40 sec'],
    [2 * 3600, 3.4 * 3600, '2–3.5 hr'],
    [290, 310, '5 min'],
  ])('writes %d to %d seconds as %s', (low, high, text) => {
    expect(en.durationRange(low, high)).toBe(text);
  });

  it('never promises zero time', () => {
    expect(en.durationRange(0, 1)).toMatch(/5 sec/);
  });
});
