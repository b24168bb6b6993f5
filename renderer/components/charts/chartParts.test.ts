import { partNumber } from '../../i18n/names.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { niceTop } from './axes.ts';
import { trackBars } from './ChunkTrack.tsx';
import { gapsBetween, timeTicks, totalsOverTime, withPauses } from './timeSeries.ts';

const chunksArbitrary = fc
  .array(
    fc.record({
      step: fc.integer({ min: 1, max: 500 }),
      score: fc.option(fc.float({ min: 0, max: 1, noNaN: true })),
    }),
    {
      minLength: 1,
      maxLength: 2000,
    },
  )
  .map((steps) => {
    let start = 1;
    return steps.map(({ step, score }) => {
      const chunk = {
        start,
        end: start + 499,
        virusScore: score,
        isVirus: score === null ? null : score >= 0.5,
      };
      start += step;
      return chunk;
    });
  });

describe('bars along a sequence', () => {
  it('are few, do not overlap, and keep the best chunk', () => {
    fc.assert(
      fc.property(chunksArbitrary, fc.integer({ min: 1, max: 400 }), (chunks, most) => {
        const length = chunks.at(-1)?.end ?? 1;
        const bars = trackBars(chunks, length, most);
        expect(bars.length).toBeLessThanOrEqual(most);
        expect(bars[0]?.start).toBe(1);
        expect(bars.at(-1)?.end).toBe(length);
        for (const [index, bar] of bars.entries()) {
          const next = bars[index + 1];
          if (next) expect(next.start).toBe(bar.end + 1);
        }
        const best = (scores: (number | null)[]) => Math.max(-1, ...scores.map((score) => score ?? -1));
        expect(best(bars.map((bar) => bar.best.virusScore))).toBe(
          best(chunks.map((chunk) => chunk.virusScore)),
        );
      }),
      { numRuns: 40 },
    );
  });
});

describe('the scale of a chart', () => {
  it('contains every value, with a round number in the middle, and wastes at most half', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10_000_000 }), (value) => {
        const top = niceTop(value);
        expect(top).toBeGreaterThanOrEqual(value);
        expect(top).toBeLessThanOrEqual(2 * value);
        expect(top / 2).toBe(Math.round(top / 2));
      }),
    );
  });
});

describe('speed over time', () => {
  const device = (speeds: Record<number, number | null>) => ({
    points: Object.entries(speeds).map(([time, residuesPerSecond]) => ({
      time: Number(time),
      residuesPerSecond,
    })),
  });

  it('sums the devices that were measured at a time', () => {
    const devices = [device({ 0: 5, 1: 6, 2: null }), device({ 1: 10, 2: null, 3: 30 })];
    expect(totalsOverTime(devices)).toEqual([
      { time: 0, value: 5 },
      { time: 1, value: 16 },
      { time: 3, value: 30 },
    ]);
  });

  it('has a gap while the run was paused', () => {
    const totals = totalsOverTime([device({ 0: 10, 10: 10, 20: 10, 120: 10, 130: 10 })]);
    expect(totals[3]).toEqual({ time: 70, value: null });
    expect(gapsBetween(totals)).toEqual([{ from: 20, to: 120 }]);
    expect(gapsBetween(totals.slice(0, 4))).toEqual([]);
  });

  it('draws no line across a break much longer than the usual step, however long that step is', () => {
    const hourly = [0, 1, 2, 3, 9, 10].map((hour) => ({ time: 3600 * hour, value: 5 }));
    expect(gapsBetween(withPauses(hourly))).toEqual([{ from: 3 * 3600, to: 9 * 3600 }]);
    const uneven = [0, 2, 12, 14, 24].map((time) => ({ time, value: 5 }));
    expect(withPauses(uneven)).toEqual(uneven);
  });
});

describe('numbers of parts', () => {
  it.each([
    ['000000', '1'],
    ['000012', '13'],
    ['000012.0', '13a'],
    ['000012.1.0', '13ba'],
  ])('%s is read as %s', (key, text) => {
    expect(partNumber(key)).toBe(text);
  });
});

describe('times along an axis', () => {
  it('are round, start at zero, end within the span, and number at most six', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 40 * 86_400, noNaN: true }), (seconds) => {
        const ticks = timeTicks(seconds);
        expect(ticks[0]).toBe(0);
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(7);
        expect(ticks.at(-1)).toBeLessThanOrEqual(seconds);
        expect(ticks.every(Number.isInteger)).toBe(true);
      }),
    );
    expect(timeTicks(44)).toEqual([0, 10, 20, 30, 40]);
    expect(timeTicks(2160)).toEqual([0, 600, 1200, 1800]);
  });
});
