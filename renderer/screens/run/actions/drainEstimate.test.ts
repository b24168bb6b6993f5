import { describe, expect, it } from 'vitest';
import { drainSeconds } from './drainEstimate.ts';

const working = (partFraction: number | null, residuesPerSecond: number | null) => ({
  worker: { state: 'working' as const, part: '000001' },
  partFraction,
  residuesPerSecond,
});

describe('time until the parts in work are finished', () => {
  it('is that of the slowest device', () => {
    expect(drainSeconds([working(0.5, 100), working(0.9, 10)], 1000)).toBeCloseTo(10);
  });

  it('counts neither idle devices nor unknown speeds', () => {
    const idle = { worker: { state: 'idle' as const }, partFraction: 0, residuesPerSecond: 1 };
    expect(drainSeconds([idle, working(0.5, null), working(null, 100)], 1000)).toBeCloseTo(10);
    expect(drainSeconds([idle, working(0.5, 0)], 1000)).toBeNull();
  });
});
