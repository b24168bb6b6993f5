import { appError, message, type RunLive, type RunSummary } from '../../../electron/contract/index.ts';
import { madeEvents } from './runDetails.ts';
import { RUN_IDS } from './runs.ts';
import { isAtWork, type World } from './world.ts';

const UNUSUAL_NORMS = {
  frames: 1234,
  ofFrames: 75_400,
  esm2: { low: 9.1, high: 17.2, expectedLow: 12, expectedHigh: 16 },
  dnabertS: { low: 2.4, high: 4.3, expectedLow: 2, expectedHigh: 5 },
};

/** The dashboard of a run at this tick: one device restarts, and one may be left out. */
export function madeLive(world: World, run: RunSummary): RunLive {
  const atWork = isAtWork(run);
  const ended = run.state.phase === 'done';
  const failed = run.state.phase === 'done' ? run.state.failedParts : atWork ? 1 : 0;
  const fraction = ended ? 1 : atWork ? Math.min(0.99, 0.42 + world.tick / 40_000) : (run.fraction ?? 0);
  const wave = (index: number) => Math.sin(world.tick / 19 + index * 1.7);
  return {
    run: { ...run, fraction },
    progress: {
      prepare: {
        finished: ended || fraction > 0.6,
        records: 74_210,
        bases: 93_400_000,
        frames: 561_000,
      },
      parts: {
        total: 480,
        done: Math.floor(480 * fraction) - failed,
        failed,
        inWork: atWork ? world.devices.length : 0,
      },
      frames: { total: 754_000, done: Math.floor(754_000 * fraction) },
      residues: { total: 125_829_120, done: Math.floor(125_829_120 * fraction) },
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
            kind: 'ray',
            state: 'open',
            job: null,
            waiting: 2,
            reason: message('ray.busy'),
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
