import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type WorkEffect, type WorkEvent, newWorkState } from './workState.ts';
import { decideWork } from './decideWork.ts';
import { DIED, done, failed, part, ready } from './testing/workEvents.ts';

interface SimulatedDevice {
  /** Residues per second as a function of time. */
  pace: (second: number) => number;
  diesAt?: number;
}

/**
 * Simulates a session with devices of these paces: when the last part was done, and when it could have been.
 */
function simulate(devices: readonly SimulatedDevice[], residuesOfParts: readonly number[]) {
  const state = newWorkState(devices.map((_, number) => ({ id: String(number), name: '' })));
  const held = devices.map((): { key: string; residues: number; left: number; began: number }[] => []);
  const dead = new Set<number>();
  const events: WorkEvent[] = [];
  let [ended, computed, now] = [false, 0, 0];
  const perform = (effect: WorkEffect): void => {
    if (effect.type === 'assign') {
      const { key, residues } = effect.part;
      held[Number(effect.device)]?.push({ key, residues, left: residues, began: now });
    } else if (effect.type === 'recall') {
      const device = Number(effect.device);
      const place = held[device]?.findIndex(({ key }) => key === effect.key) ?? 0;
      if (place < 1) return;
      held[device]?.splice(place, 1);
      events.push(failed(effect.device, effect.key, 'recalled'));
    } else if (effect.type === 'store_scores') {
      const intake = { outcome: 'taken', chunks: 1 } as const;
      events.push({ type: 'scores_stored', key: effect.done.part, intake });
    } else if (effect.type === 'end_attempt') {
      events.push({ ...effect, type: 'attempt_ended' });
    } else if (effect.type === 'settled' || effect.type === 'halt') {
      ended = true;
    }
  };
  const take = (event: WorkEvent): void => {
    events.push(event);
    for (let next = events.shift(); next; next = events.shift()) decideWork(state, next).forEach(perform);
  };
  const stored = residuesOfParts.map((residues, number) =>
    part(String(number).padStart(6, '0'), { residues }),
  );
  take({ type: 'started', parts: stored, lost: [], prepared: true });
  for (const device of devices.keys()) take(ready(String(device)));
  const tick = Math.max(...residuesOfParts) / 20 / Math.max(...devices.map(({ pace }) => pace(0)));
  const work = residuesOfParts.reduce((sum, residues) => sum + residues, 0);
  let [lastDone, could, ideal] = [0, 0, Infinity];
  while (!ended) {
    const nextDone = held.map(([first], number) =>
      first ? first.left / (devices[number]?.pace(now) ?? 1) : tick,
    );
    const step = Math.min(tick, ...nextDone);
    for (const { pace } of devices) could += pace(now) * step;
    for (const [number, { pace }] of devices.entries())
      for (const first of held[number]?.slice(0, 1) ?? []) first.left -= pace(now) * step;
    now += step;
    if (could >= work) ideal = Math.min(ideal, now);
    for (const [number, { diesAt = Infinity }] of devices.entries()) {
      const device = String(number);
      const queue = held[number] ?? [];
      if (now >= diesAt && !dead.has(number)) {
        dead.add(number);
        queue.length = 0;
        take({ type: 'worker_died', device, error: DIED, restartAttempt: null });
      }
      const [first] = queue;
      if (!first) continue;
      const { key, residues, left, began } = first;
      if (left > 1e-6) {
        const residues_done = Math.floor(residues - left);
        const progress = {
          type: 'progress',
          part: key,
          frames_done: 0,
          residues_done,
          residues_total: residues,
        } as const;
        take({ type: 'part_progress', device, progress });
        continue;
      }
      queue.shift();
      if (queue[0]) queue[0].began = now;
      [lastDone, computed] = [now, computed + 1];
      take(done(device, key, { residues, seconds: now - began }));
    }
  }
  return { computed, lastDone, ideal };
}

const even = (pace: number): SimulatedDevice => ({ pace: () => pace });
const parts = (count: number): number[] => Array.from({ length: count }, () => 1000);

describe('handing out the last parts', () => {
  it('finishes, at any device speeds, within one part per further device of the optimum', () => {
    const paces = fc.array(fc.integer({ min: 10, max: 100 }), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(paces, fc.integer({ min: 60, max: 200 }), (each, count) => {
        const { computed, lastDone, ideal } = simulate(each.map(even), parts(count));
        expect(computed).toBe(count);
        expect(lastDone / ideal).toBeLessThan(1.005 + (each.length - 1) / count);
      }),
      { numRuns: 50 },
    );
  });

  it('finishes within 5 % of the optimum if a GPU is a seventh as fast, or throttles', () => {
    const seventh = simulate([even(100), even(15)], parts(20));
    const throttling = simulate([even(100), { pace: (second) => (second > 120 ? 25 : 100) }], parts(60));
    for (const { lastDone, ideal } of [seventh, throttling]) expect(lastDone / ideal).toBeLessThan(1.05);
  });

  it('leaves nothing uncomputed if the fast device that a slow one waits for dies', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120 }), (diesAt) => {
        const devices = [{ ...even(100), diesAt }, even(4)];
        expect(simulate(devices, parts(12)).computed).toBe(12);
      }),
      { numRuns: 30 },
    );
  });
});
