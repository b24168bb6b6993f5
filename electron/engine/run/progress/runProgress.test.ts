import { describe, expect, it } from 'vitest';
import { remainingSeconds, workFraction, type WorkKnown } from './runProgress.ts';
import { randomNumbers } from '../../testing/randomNumbers.ts';
import { RateMeter } from './deviceTelemetry.ts';

const work = (changes: Partial<WorkKnown>): WorkKnown => ({
  residuesDone: 0,
  residuesFound: 0,
  framesFound: 0,
  readFraction: 0,
  prepareFinished: false,
  ...changes,
});

const READ = { readFraction: 1, prepareFinished: true };

describe('progress by work', () => {
  it('shows nothing before anything is known, and completion if there is nothing to do', () => {
    expect(workFraction(work({}))).toBeNull();
    expect(workFraction(work({ readFraction: 0.5 }))).toBeNull();
    expect(workFraction(work(READ))).toBe(1);
  });

  it('assumes that the unread part of the input is like the part already read', () => {
    expect(workFraction(work({ residuesDone: 100, residuesFound: 500, readFraction: 0.5 }))).toBe(0.1);
    expect(workFraction(work({ residuesDone: 100, residuesFound: 500, ...READ }))).toBe(0.2);
  });

  it('gives the remaining time as a range that narrows as the input is read', () => {
    const speeds = { now: 10, overall: 10, seconds: 1e9, growth: 1 };
    const early = remainingSeconds(work({ residuesFound: 500, readFraction: 0.5 }), speeds);
    const late = remainingSeconds(work({ residuesFound: 1000, ...READ }), speeds);
    expect(early?.low).toBeCloseTo(100 / 1.3);
    expect(early?.high).toBeCloseTo(132);
    expect(late?.low).toBeCloseTo(100 / 1.1);
    expect(late?.high).toBeCloseTo(112);
    expect(remainingSeconds(work({ residuesFound: 500, readFraction: 0.5 }), null)).toBeNull();
  });

  it('gives a wide range after a short computing time, and after the speed has changed', () => {
    const known = work({ residuesFound: 1000, ...READ });
    const short = remainingSeconds(known, { now: 10, overall: 10, seconds: 10, growth: 1 });
    expect((short?.high ?? 0) / (short?.low ?? 1)).toBeGreaterThan(2);
    const faster = remainingSeconds(known, { now: 40, overall: 10, seconds: 1e9, growth: 1 });
    expect(faster?.low).toBeLessThan(25);
    expect(faster?.high).toBeGreaterThan(100);
  });

  it('counts devices that are still starting only in the lower limit', () => {
    const known = work({ residuesFound: 1000, ...READ });
    const speeds = { now: 10, overall: 10, seconds: 10 };
    const alone = remainingSeconds(known, { ...speeds, growth: 1 });
    const withSeven = remainingSeconds(known, { ...speeds, growth: 8 });
    expect(withSeven?.low).toBeCloseTo((alone?.low ?? 0) / 8);
    expect(withSeven?.high).toBe(alone?.high);
  });
});

// Measured runs at three quarters of their work, two cores shared with other work: the estimate without the
// final stage, and how long it took until the run was done.
it.each([
  ['genes of 1 kb', 3.5, 3.9],
  ['reads of 40 bases', 5.6, 6.3],
  ['reads of 75 bases, two workers', 7.4, 7.8],
  ['few long genomes', 0.9, 1.9],
])('includes the steps after the last residues: %s', (_name, highBefore, truth) => {
  const known = work({ residuesFound: 1000, residuesDone: 750, ...READ });
  const doubt = 1.1;
  const speed = (250 * doubt) / highBefore;
  const estimate = remainingSeconds(known, { now: speed, overall: speed, seconds: 1e9, growth: 1 });
  expect(estimate?.high).toBeGreaterThan(truth);
  expect(estimate?.low).toBeLessThan(truth);
});

// The final stages of runs of a million reads, from the last residues to the tables: docs/performance.md.
it.each([4.7, 6.5, 8.4, 10.3])('includes writing the tables of many sequences: %s s', (truth) => {
  const computed = work({
    residuesFound: 7e7,
    residuesDone: 7e7,
    framesFound: 1_491_847,
    ...READ,
  });
  const estimate = remainingSeconds(computed, { now: 2e5, overall: 2e5, seconds: 300, growth: 1 });
  expect(estimate?.low).toBeLessThan(truth);
  expect(estimate?.high).toBeGreaterThan(truth);
});

/**
 * Simulates a run second by second: devices that start one after the other, a fluctuating rate, reading in
 * parallel, and a final stage.
 */
function* drawnRun(seed: number): Generator<{ remaining: { low: number; high: number }; truth: number }> {
  const random = randomNumbers(seed);
  const between = (low: number, high: number): number => low + (high - low) * random();
  const total = 1e6 * between(1, 40);
  const frames = total / between(12, 300);
  const readSeconds = between(1, 60);
  const devices = Array.from({ length: Math.ceil(between(0, 8)) }, () => ({
    rate: between(9e3, 1e4),
    starts: between(5, 40),
    meter: new RateMeter(),
  }));
  const states: { done: number; remaining: { low: number; high: number } | null }[] = [];
  let [done, wander, first] = [0, 1, NaN];
  for (let second = 0; done < total; second++) {
    wander = 1 + 0.9 * (wander - 1) + between(-0.04, 0.04);
    const computing = devices.filter(({ starts }) => second >= starts);
    const read = Math.min(1, second / readSeconds);
    for (const { rate, meter } of computing) {
      const more = Math.min(total * read - done, rate * wander);
      if (more <= 0) continue;
      if (Number.isNaN(first)) first = second - 1;
      meter.add(more, 1000 * second);
      done += more;
    }
    const rates = computing.map(({ meter }) => meter.rate(1000 * second)).filter((rate) => rate !== null);
    const now = rates.reduce((sum, rate) => sum + rate, 0);
    const seconds = second - first;
    const growth = 1 + (devices.length - computing.length) / rates.length;
    const known = work({
      residuesDone: done,
      residuesFound: total * read,
      framesFound: frames * read,
      readFraction: read,
      prepareFinished: read === 1,
    });
    const speeds = rates.length === 0 ? null : { now, overall: done / seconds, seconds, growth };
    states.push({ done, remaining: remainingSeconds(known, speeds) });
  }
  const ending = between(0.3, 2.2) + frames * between(3.1e-6, 6.9e-6);
  for (const share of [0.1, 0.25, 0.5, 0.75, 0.9]) {
    const at = states.findIndex((state) => state.done >= share * total);
    const remaining = states[at]?.remaining;
    if (remaining) yield { remaining, truth: states.length - 1 - at + ending };
  }
}

it('contains the actual remaining time of thirty simulated runs, in useful ranges', () => {
  for (let seed = 0; seed < 30; seed++) {
    const looks = [...drawnRun(seed)];
    expect(looks.length).toBeGreaterThan(3);
    for (const { remaining, truth } of looks) {
      expect.soft(remaining.low, `run ${seed}`).toBeLessThanOrEqual(truth);
      expect.soft(remaining.high, `run ${seed}`).toBeGreaterThanOrEqual(truth);
    }
    const [{ remaining, truth }] = looks.slice(-2) as [(typeof looks)[0]];
    expect.soft(remaining.high - remaining.low, `run ${seed}`).toBeLessThan(truth + 10);
  }
});

describe('RateMeter', () => {
  it('measures over its window and forgets earlier data', () => {
    const meter = new RateMeter(10_000);
    expect(meter.rate(0)).toBeNull();
    for (let second = 0; second <= 60; second++) meter.add(second < 30 ? 1000 : 10, second * 1000);
    expect(meter.rate(60_000)).toBeCloseTo(10, 0);
    meter.reset();
    expect(meter.rate(61_000)).toBeNull();
  });
});
