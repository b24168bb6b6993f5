import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { part } from './testing/workEvents.ts';
import { keysOf, PromptWorld } from './testing/world.ts';

interface SimulatedDevice {
  /** Residues per second as a function of time. */
  pace: (second: number) => number;
  diesAt?: number;
}

/** Residues of each part. */
const RESIDUES = 1000;

/**
 * Simulates a session with devices of these paces: when the last part was done, and when it could have been.
 */
function simulate(devices: readonly SimulatedDevice[], partCount: number) {
  const world = new PromptWorld(devices.map((_, number) => String(number)));
  const parts = keysOf(partCount).map((key) => part(key, { residues: RESIDUES }));
  world.start(parts, true);
  for (const id of world.held.keys()) world.getReady(id);
  const tick = RESIDUES / 20 / Math.max(...devices.map(({ pace }) => pace(0)));
  let [lastDone, could, ideal, now] = [0, 0, Infinity, 0];
  const begun = new Map<string, { key: string; left: number; began: number }>();
  /** What a device computes now. */
  const current = (device: number) => {
    const [key] = world.held.get(String(device)) ?? [];
    if (key === undefined) return undefined;
    const work = begun.get(`${device} ${key}`) ?? { key, left: RESIDUES, began: now };
    begun.set(`${device} ${key}`, work);
    return work;
  };
  while (world.outcomes.length === 0) {
    const working = devices.map(({ pace }, device) => ({ pace: pace(now), work: current(device) }));
    const step = Math.min(tick, ...working.map(({ pace, work }) => (work ? work.left / pace : tick)));
    for (const { pace, work } of working) {
      could += pace * step;
      if (work) work.left -= pace * step;
    }
    now += step;
    if (could >= RESIDUES * partCount) ideal = Math.min(ideal, now);
    for (const [number, { diesAt = Infinity }] of devices.entries()) {
      const device = String(number);
      if (now >= diesAt) world.die(device, true);
      const work = current(number);
      if (!work) continue;
      if (work.left > 1e-6) {
        const residues_done = Math.floor(RESIDUES - work.left);
        const counts = { frames_done: 0, residues_done, residues_total: RESIDUES };
        world.emit({
          type: 'part_progress',
          device,
          progress: { type: 'progress', part: work.key, ...counts },
        });
        continue;
      }
      lastDone = now;
      world.finishPart(device, { residues: RESIDUES, seconds: now - work.began });
    }
  }
  return { computed: world.keysByState['done']?.length, lastDone, ideal };
}

const even = (pace: number): SimulatedDevice => ({ pace: () => pace });

describe('handing out the last parts', () => {
  it('finishes, at any device speeds, within one part per further device of the optimum', () => {
    const paces = fc.array(fc.integer({ min: 10, max: 100 }), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(paces, fc.integer({ min: 60, max: 200 }), (each, count) => {
        const { computed, lastDone, ideal } = simulate(each.map(even), count);
        expect(computed).toBe(count);
        expect(lastDone / ideal).toBeLessThan(1.005 + (each.length - 1) / count);
      }),
      { numRuns: 50 },
    );
  });

  it('finishes within 5 % of the optimum if a GPU is a seventh as fast, or throttles', () => {
    const seventh = simulate([even(100), even(15)], 20);
    const throttling = simulate([even(100), { pace: (second) => (second > 120 ? 25 : 100) }], 60);
    for (const { lastDone, ideal } of [seventh, throttling]) expect(lastDone / ideal).toBeLessThan(1.05);
  });

  it('leaves nothing uncomputed if the fast device that a slow one waits for dies', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), (diesAt) => {
        const devices = [{ ...even(100), diesAt }, even(4)];
        expect(simulate(devices, 12).computed).toBe(12);
      }),
      { numRuns: 30 },
    );
  });
});
