import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  SPEED_STEP_MS,
  SPEED_WINDOW_MS,
  type SpeedHistory,
  sequencesPerMinute,
  withSpeeds,
} from './liveRun.ts';

const device = (id: string, residuesPerSecond: number | null) => ({ id, residuesPerSecond });

describe('speeds of the last minutes', () => {
  it('stay within the window, in order and apart, however often snapshots come', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 300 }), (steps) => {
        let speeds: SpeedHistory = {};
        let now = 1_000_000;
        for (const step of steps) {
          now += step;
          speeds = withSpeeds(speeds, [device('a', 10)], now);
        }
        const times = (speeds.a ?? []).map((sample) => sample.time);
        for (const [index, time] of times.entries()) {
          const before = times[index - 1];
          if (before !== undefined) expect(time - before).toBeGreaterThanOrEqual(SPEED_STEP_MS);
        }
        expect(times.every((time) => now - time <= SPEED_WINDOW_MS + 30_000)).toBe(true);
      }),
    );
  });

  it('is the same object while nothing is added, so that no card is drawn again', () => {
    const speeds = withSpeeds({}, [device('a', 5), device('b', null)], 1000);
    expect(withSpeeds(speeds, [device('a', 6), device('b', 7)], 1000 + SPEED_STEP_MS - 1)).toBe(speeds);
    const later = withSpeeds(speeds, [device('a', 6)], 1000 + SPEED_STEP_MS);
    expect(later.a).toHaveLength(2);
    expect(later.b).toBe(speeds.b);
  });

  it('counts a device that does nothing as nought', () => {
    expect(withSpeeds({}, [device('a', null)], 1).a).toEqual([{ time: 1, residuesPerSecond: 0 }]);
  });
});

describe('speed as people count it', () => {
  const progress = (records: number, total: number) => ({
    prepare: { finished: false, bytesRead: 1, bytesTotal: 2, records, bases: 500, frames: 3 },
    residues: { total, done: 0 },
  });

  it('counts sequences without an open frame too: 100 sequences in 40,000 residues', () => {
    expect(sequencesPerMinute(2000, progress(100, 40_000))).toBe(300);
  });

  it('is unknown until something is prepared, and while nothing computes', () => {
    expect(sequencesPerMinute(2000, progress(3, 0))).toBeNull();
    expect(sequencesPerMinute(null, progress(100, 40_000))).toBeNull();
  });
});
