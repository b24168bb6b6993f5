import { appError, plain, type RunLive, type RunSummary } from '../../../electron/contract/index.ts';
import { BASES_OF_RECORD, fractionOf, madeEvents, partCounts, RESIDUES_OF_PART } from './runDetails.ts';
import { RUN_IDS } from './runs.ts';
import { isAtWork, type World } from './world.ts';

const FRAMES_OF_PART = 1580;
const UNUSUAL_NORMS = {
  frames: 1234,
  ofFrames: 49_000,
  esm2: { low: 9.1, high: 17.2, expectedLow: 12, expectedHigh: 16 },
  dnabertS: { low: 2.4, high: 4.3, expectedLow: 2, expectedHigh: 5 },
};

/** The dashboard of a run at this tick: one device restarts, and one may be left out. */
export function madeLive(world: World, run: RunSummary): RunLive {
  const atWork = isAtWork(run);
  const ended = run.state.phase === 'done';
  const fraction = Math.min(ended ? 1 : 0.99, fractionOf(run) + (atWork ? world.tick / 40_000 : 0));
  const parts = partCounts(world, run, fraction);
  const work = (each: number) => ({ total: each * parts.total, done: each * parts.done });
  const records = world.recordsOf(run);
  const each = Math.round(parts.done / world.devices.length);
  const partsOf = (index: number) => Math.max(0, each - (index % 3 === 2 ? 4 : -2));
  const wave = (index: number) => Math.sin(world.tick / 19 + index * 1.7);
  return {
    run: { ...run, fraction },
    progress: {
      prepare: {
        finished: ended || fraction > 0.6,
        records,
        bases: records * BASES_OF_RECORD,
        frames: work(FRAMES_OF_PART).total,
      },
      parts,
      frames: work(FRAMES_OF_PART),
      residues: work(RESIDUES_OF_PART),
      inputs: {
        total: run.plan.inputs.length,
        done: ended ? run.plan.inputs.length : Math.floor(run.plan.inputs.length * fraction),
        failed: 0,
      },
      fraction,
      elapsedSeconds: ended ? 2520 : 2160 + world.tick / 4,
      remainingSeconds: atWork ? { low: 2700, high: 3300 } : null,
      residuesPerSecond: atWork ? world.devices.length * 41_000 + wave(0) * 3000 : null,
      unusualNorms: run.runId === RUN_IDS.withFailures ? UNUSUAL_NORMS : null,
    },
    devices: world.devices.map((device, index) => ({
      ...device,
      worker: worker(world, index, atWork),
      partsDone: partsOf(index),
      residuesDone: partsOf(index) * RESIDUES_OF_PART,
      partFraction: atWork ? (world.tick / 40 + index * 0.13) % 1 : null,
      residuesPerSecond: atWork && index !== 5 && index !== 6 ? 41_000 + wave(index) * 2400 : null,
      framesPerSecond: atWork && index !== 5 && index !== 6 ? 245 + wave(index) * 14 : null,
      utilizationPercent: atWork ? 95 + Math.round(wave(index) * 4) : 0,
      temperatureC: 61 + Math.round(wave(index) * 3),
      powerW: 412 + Math.round(wave(index) * 25),
    })),
    cluster:
      world.nodes === 0 || !atWork
        ? null
        : {
            kind: 'slurm',
            state: 'open',
            job: '4711',
            waiting: 2,
            reason: plain('Priority'),
          },
    recentEvents: madeEvents(world.openedAt),
  };
}

function worker(world: World, index: number, atWork: boolean): RunLive['devices'][number]['worker'] {
  if (!atWork) return { state: 'stopped' };
  if (world.excluded.has(index)) return { state: 'excluded' };
  if (index === 5)
    return {
      state: 'restarting',
      attempt: 2,
      error: appError('worker_died', 'It ended without saying why (signal 9).'),
    };
  return {
    state: 'working',
    part: String(200 + ((index + Math.floor(world.tick / 40)) % 280)).padStart(6, '0'),
  };
}
