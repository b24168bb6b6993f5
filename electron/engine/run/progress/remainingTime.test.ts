import { describe, expect, it } from 'vitest';
import { remainingSeconds, workFraction, type WorkKnown } from './remainingTime.ts';
import { RateMeter } from './rateMeter.ts';

const work = (changes: Partial<WorkKnown>): WorkKnown => ({
  residuesDone: 0,
  residuesFound: 0,
  framesFound: 0,
  readFraction: 0,
  prepareFinished: false,
  ...changes,
});

describe('progress by work', () => {
  it('says nothing before it knows anything, and all done where there is nothing to do', () => {
    expect(workFraction(work({}))).toBeNull();
    expect(workFraction(work({ readFraction: 0.5 }))).toBeNull();
    expect(workFraction(work({ readFraction: 1, prepareFinished: true }))).toBe(1);
  });

  it('counts on the unread part of the input holding as much as the part read', () => {
    expect(workFraction(work({ residuesDone: 100, residuesFound: 500, readFraction: 0.5 }))).toBe(0.1);
    expect(
      workFraction(work({ residuesDone: 100, residuesFound: 500, readFraction: 1, prepareFinished: true })),
    ).toBe(0.2);
  });

  it('gives the time left as a range that narrows as the input is read', () => {
    const speeds = { now: 10, overall: 10, seconds: 1e9, growth: 1 };
    const early = remainingSeconds(work({ residuesFound: 500, readFraction: 0.5 }), speeds);
    const late = remainingSeconds(
      work({ residuesFound: 1000, readFraction: 1, prepareFinished: true }),
      speeds,
    );
    expect(early?.low).toBeCloseTo(100 / 1.3);
    expect(early?.high).toBeCloseTo(132);
    expect(late?.low).toBeCloseTo(100 / 1.1);
    expect(late?.high).toBeCloseTo(112);
    expect(remainingSeconds(work({ residuesFound: 500, readFraction: 0.5 }), null)).toBeNull();
  });

  it('gives a wide range after a short time of computing, and where the speed has changed', () => {
    const known = work({ residuesFound: 1000, readFraction: 1, prepareFinished: true });
    const short = remainingSeconds(known, { now: 10, overall: 10, seconds: 10, growth: 1 });
    expect((short?.high ?? 0) / (short?.low ?? 1)).toBeGreaterThan(2);
    const faster = remainingSeconds(known, { now: 40, overall: 10, seconds: 1e9, growth: 1 });
    expect(faster?.low).toBeLessThan(25);
    expect(faster?.high).toBeGreaterThan(100);
  });

  it('counts on devices that are still being started for the least it may take, not for the most', () => {
    const known = work({ residuesFound: 1000, readFraction: 1, prepareFinished: true });
    const speeds = { now: 10, overall: 10, seconds: 10 };
    const alone = remainingSeconds(known, { ...speeds, growth: 1 });
    const withSeven = remainingSeconds(known, { ...speeds, growth: 8 });
    expect(withSeven?.low).toBeCloseTo((alone?.low ?? 0) / 8);
    expect(withSeven?.high).toBe(alone?.high);
  });
});

// Measured runs at three quarters of their work, two cores shared with other work: what was told without an ending,
// and how long it was until the run was done.
it.each([
  ['genes of 1 kb', 3.5, 3.9],
  ['reads of 40 bases', 5.6, 6.3],
  ['reads of 75 bases, two workers', 7.4, 7.8],
  ['few long genomes', 0.9, 1.9],
])('counts on what comes after the last residues: %s', (_name, highBefore, truth) => {
  const known = work({ residuesFound: 1000, residuesDone: 750, readFraction: 1, prepareFinished: true });
  const doubt = 1.1;
  const speed = (250 * doubt) / highBefore;
  const told = remainingSeconds(known, { now: speed, overall: speed, seconds: 1e9, growth: 1 });
  expect(told?.high).toBeGreaterThan(truth);
  expect(told?.low).toBeLessThan(truth);
});

// The ends of runs of a million reads, from the last residues to the tables: docs/performance.md.
it.each([4.7, 6.5, 8.4, 10.3])('counts on the tables of many sequences: %s s', (truth) => {
  const computed = work({
    residuesFound: 7e7,
    residuesDone: 7e7,
    framesFound: 1_491_847,
    readFraction: 1,
    prepareFinished: true,
  });
  const told = remainingSeconds(computed, { now: 2e5, overall: 2e5, seconds: 300, growth: 1 });
  expect(told?.low).toBeLessThan(truth);
  expect(told?.high).toBeGreaterThan(truth);
});

describe('RateMeter', () => {
  it('measures over its window and forgets what lies before it', () => {
    const meter = new RateMeter(10_000);
    expect(meter.rate(0)).toBeNull();
    for (let second = 0; second <= 60; second++) meter.add(second < 30 ? 1000 : 10, second * 1000);
    expect(meter.rate(60_000)).toBeCloseTo(10, 0);
    meter.reset();
    expect(meter.rate(61_000)).toBeNull();
  });
});
