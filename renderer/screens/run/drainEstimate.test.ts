import { describe, expect, it } from 'vitest';
import { drainSeconds } from './drainEstimate.ts';

const working = (shardFraction: number | null, tokensPerSecond: number | null) => ({
  worker: { state: 'working' as const, shard: '000001' },
  shardFraction,
  tokensPerSecond,
});

describe('time until the parts in work are finished', () => {
  it('is that of the slowest device', () => {
    expect(drainSeconds([working(0.5, 100), working(0.9, 10)], 1000)).toBeCloseTo(10);
  });

  it('counts neither idle devices nor unknown speeds', () => {
    const idle = { worker: { state: 'idle' as const }, shardFraction: 0, tokensPerSecond: 1 };
    expect(drainSeconds([idle, working(0.5, null), working(null, 100)], 1000)).toBeCloseTo(10);
    expect(drainSeconds([idle, working(0.5, 0)], 1000)).toBeNull();
  });
});
