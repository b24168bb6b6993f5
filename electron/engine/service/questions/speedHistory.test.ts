import { describe, expect, it } from 'vitest';
import { secondsFor, type MeasuredWork } from './runSpeeds.ts';
import { SpeedHistory } from './speedHistory.ts';
import type { LibraryStore } from '../../store/storeThread.ts';
import type { RunStore } from '../../store/runStore.ts';

/**
 * Real runs of the teaching model on a busy computer with two cores, one after the other: the work that the
 * inspection reported, each worker's part, and the computing time of the whole.
 */
const RECORDED = [
  {
    name: 'genes of 1 kb',
    frames: 600,
    residues: 99600,
    devices: [{ frames: 601, residues: 99766, seconds: 19.15 }],
    seconds: 37.3,
  },
  {
    name: 'reads of 150 bases',
    frames: 1953,
    residues: 96257,
    devices: [{ frames: 2172, residues: 107160, seconds: 15.57 }],
    seconds: 33.6,
  },
  {
    name: 'contigs of 0.3 to 20 kb',
    frames: 612,
    residues: 100582,
    devices: [{ frames: 616, residues: 101175, seconds: 18.11 }],
    seconds: 34.2,
  },
  {
    name: 'reads of 40 bases',
    frames: 16346,
    residues: 206937,
    devices: [{ frames: 16425, residues: 207850, seconds: 54.25 }],
    seconds: 74.0,
  },
  {
    name: 'one genome of 300 kb',
    frames: 600,
    residues: 99600,
    devices: [{ frames: 602, residues: 99932, seconds: 19.61 }],
    seconds: 40.8,
  },
  {
    name: 'few contigs without genes',
    frames: 0,
    residues: 0,
    devices: [{ frames: 1, residues: 166, seconds: 0.08 }],
    seconds: 18.3,
  },
  {
    name: 'reads of 250 bases',
    frames: 1324,
    residues: 109459,
    devices: [{ frames: 1399, residues: 115644, seconds: 21.6 }],
    seconds: 43.5,
  },
  {
    name: 'reads of 100 bases',
    frames: 9376,
    residues: 306778,
    devices: [{ frames: 10052, residues: 328291, seconds: 53.55 }],
    seconds: 71.8,
  },
  {
    name: 'genes of 1.5 kb, many',
    frames: 2702,
    residues: 448595,
    devices: [{ frames: 2708, residues: 449528, seconds: 75.88 }],
    seconds: 91.1,
  },
  {
    name: 'contigs of 0.5 to 5 kb',
    frames: 812,
    residues: 130017,
    devices: [{ frames: 818, residues: 130420, seconds: 29.78 }],
    seconds: 50.7,
  },
  {
    name: 'mixed lengths of 40 to 40,000',
    frames: 1794,
    residues: 293515,
    devices: [{ frames: 1796, residues: 292407, seconds: 57.91 }],
    seconds: 80.9,
  },
  {
    name: 'reads of 75 bases, two workers',
    frames: 14438,
    residues: 351318,
    devices: [
      { frames: 7440, residues: 180966, seconds: 37.39 },
      { frames: 7477, residues: 181803, seconds: 35.56 },
    ],
    seconds: 59.4,
  },
  {
    name: 'contigs of 2 kb, two workers',
    frames: 1200,
    residues: 199200,
    devices: [
      { frames: 559, residues: 92794, seconds: 18.77 },
      { frames: 648, residues: 107568, seconds: 20.04 },
    ],
    seconds: 37.1,
  },
];

const measured = (more: Partial<MeasuredWork> = {}): MeasuredWork => ({
  frames: 1000,
  residues: 100_000,
  seconds: 100,
  measuredAt: 0,
  ...more,
});
const ratio = (range: { low: number; high: number } | null): number => (range?.high ?? 0) / (range?.low ?? 1);

describe('the time that work takes', () => {
  it('is unknown without a measurement of every device', () => {
    expect(secondsFor(measured(), [])).toBeNull();
    expect(secondsFor(measured(), [[measured()], []])).toBeNull();
  });

  it('is the same again for the same work, as a range', () => {
    const range = secondsFor(measured(), [[measured()]]);
    expect(range?.low).toBeLessThan(100);
    expect(range?.high).toBeGreaterThan(100);
  });

  it('is a wider range the less is known', () => {
    const usual = ratio(secondsFor(measured(), [Array.from({ length: 8 }, () => measured())]));
    expect(ratio(secondsFor(measured(), [[measured()]]))).toBeGreaterThan(usual);
    const short = measured({ frames: 10, residues: 1000, seconds: 1 });
    expect(ratio(secondsFor(measured(), [[short]]))).toBeGreaterThan(
      ratio(secondsFor(measured(), [[measured()]])),
    );
    const moment = measured({ frames: 10, residues: 1000, seconds: 0.3 });
    expect(ratio(secondsFor(measured(), [[moment]]))).toBeGreaterThan(
      ratio(secondsFor(measured(), [[short]])),
    );
    const shorterFrames = { frames: 7000, residues: 100_000 };
    expect(ratio(secondsFor(shorterFrames, [Array.from({ length: 8 }, () => measured())]))).toBeGreaterThan(
      usual,
    );
  });

  it('is divided among devices according to their speeds', () => {
    const alone = secondsFor(measured(), [[measured()]]);
    const together = secondsFor(measured(), [[measured()], [measured()]]);
    expect(together?.low).toBeCloseTo((alone?.low ?? 0) / 2);
  });
});

let ended = 0;

/** The store of a finished run: its computing time, and each worker's part. */
const runStore = (
  seconds: number,
  devices: readonly Pick<MeasuredWork, 'frames' | 'residues' | 'seconds'>[],
) =>
  ({
    loadRun: () =>
      Promise.resolve({
        plan: { model: { hash: 'teaching' }, precision: 'fp32' },
        state: { phase: 'done' },
        devices: devices.map((_, number) => ({ id: `cpu:${number}`, name: 'cpu' })),
      }),
    timings: () => Promise.resolve({ lastChangeAt: ++ended, workingMilliseconds: seconds * 1000 }),
    deviceSummaries: () =>
      Promise.resolve(devices.map((device, number) => ({ ...device, device: `cpu:${number}`, parts: 1 }))),
  }) as unknown as RunStore;

it('contains the true time of nine in ten recorded runs, each estimated from those before it', async () => {
  const settings = new Map<string, unknown>();
  const library = {
    setting: (key: string) => Promise.resolve(settings.get(key)),
    setSetting: (key: string, value: unknown) => Promise.resolve(void settings.set(key, value)),
  } as unknown as LibraryStore;
  const speeds = await SpeedHistory.open(library);
  let learned = 0;
  const verdicts: { name: string; low: number; seconds: number; high: number; isRight: boolean }[] = [];
  for (const { name, frames, residues, devices, seconds } of RECORDED) {
    // A run without anything to compute lists no devices.
    const deviceNames = Array.from({ length: Math.max(1, devices.length) }, () => 'cpu');
    const estimate = speeds.seconds({
      modelHash: 'teaching',
      precision: 'fp32',
      deviceNames,
      frames,
      residues,
    });
    if (estimate) {
      const { low, high } = estimate;
      expect(estimate.runs).toBeLessThanOrEqual(learned);
      verdicts.push({ name, low, seconds, high, isRight: low <= seconds && seconds <= high });
    }
    await speeds.learn(runStore(seconds, devices));
    learned += 1;
  }
  expect(verdicts.length).toBeGreaterThanOrEqual(10);
  const wrong = verdicts.filter(({ isRight }) => !isRight);
  expect(wrong.length, JSON.stringify(wrong)).toBeLessThanOrEqual(verdicts.length / 10);
  // A range that contains everything is useless.
  for (const { low, high } of verdicts) expect(high / low).toBeLessThan(6);
});

const emptyHistory = () =>
  SpeedHistory.open({
    setting: () => Promise.resolve(undefined),
    setSetting: () => Promise.resolve(),
  } as unknown as LibraryStore);

it('gives an estimate after the example on a fast computer, where each worker computes for less than a second', async () => {
  const speeds = await emptyHistory();
  const question = { modelHash: 'teaching', precision: 'fp32', deviceNames: ['cpu', 'cpu'] };
  const ahead = { frames: 2000, residues: 300_000 };
  await speeds.learn(
    runStore(8, [
      { frames: 100, residues: 12_000, seconds: 0.6 },
      { frames: 84, residues: 10_000, seconds: 0.5 },
    ]),
  );
  const estimate = speeds.seconds({ ...question, ...ahead });
  expect(estimate).not.toBeNull();
  expect(ratio(estimate)).toBeGreaterThan(3);
});
