import { describe, expect, it } from 'vitest';
import { secondsFor, type MeasuredWork } from './runSpeeds.ts';
import { SpeedHistory } from './speedHistory.ts';
import type { LibraryStore } from '../../store/storeThread.ts';
import type { RunStore } from '../../store/runStore.ts';

/**
 * Real runs of the teaching model on a busy computer with two cores, one after the other: frames and residues that the inspection
 * reported and the seconds of the whole, then those of each worker.
 */
const RECORDED = `
genes of 1 kb | 600 99600 37.3 | 601 99766 19.15
reads of 150 bases | 1953 96257 33.6 | 2172 107160 15.57
contigs of 0.3 to 20 kb | 612 100582 34.2 | 616 101175 18.11
reads of 40 bases | 16346 206937 74.0 | 16425 207850 54.25
one genome of 300 kb | 600 99600 40.8 | 602 99932 19.61
few contigs without genes | 0 0 18.3 | 1 166 0.08
reads of 250 bases | 1324 109459 43.5 | 1399 115644 21.6
reads of 100 bases | 9376 306778 71.8 | 10052 328291 53.55
genes of 1.5 kb, many | 2702 448595 91.1 | 2708 449528 75.88
contigs of 0.5 to 5 kb | 812 130017 50.7 | 818 130420 29.78
mixed lengths of 40 to 40,000 | 1794 293515 80.9 | 1796 292407 57.91
reads of 75 bases, two workers | 14438 351318 59.4 | 7440 180966 37.39 | 7477 181803 35.56
contigs of 2 kb, two workers | 1200 199200 37.1 | 559 92794 18.77 | 648 107568 20.04`
  .trim()
  .split('\n')
  .map((line) => {
    const [name = '', ...numbers] = line.split(' | ');
    const [whole, ...devices] = numbers.map((cell) => {
      const [frames, residues, seconds] = cell.split(' ').map(Number) as [number, number, number];
      return { frames, residues, seconds };
    });
    return { name, ...(whole as NonNullable<typeof whole>), devices };
  });

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

  it('is a wider range the less is known', () => {
    const range = (known: MeasuredWork[], work = measured()) => ratio(secondsFor(work, [known]));
    const often = Array.from({ length: 8 }, () => measured());
    expect(range([measured()])).toBeGreaterThan(range(often));
    expect(range(often, measured({ frames: 7000 }))).toBeGreaterThan(range(often));
    const short = measured({ frames: 10, residues: 1000, seconds: 1 });
    expect(range([short])).toBeGreaterThan(range([measured()]));
    expect(range([{ ...short, seconds: 0.3 }])).toBeGreaterThan(range([short]));
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

const emptyHistory = () =>
  SpeedHistory.open({
    setting: () => Promise.resolve(undefined),
    setSetting: () => Promise.resolve(),
  } as unknown as LibraryStore);

it('contains the true time of nine in ten recorded runs, each estimated from those before it', async () => {
  const speeds = await emptyHistory();
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
