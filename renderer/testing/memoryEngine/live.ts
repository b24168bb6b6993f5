import { appError, plain, type RunLive, type RunSummary } from '../../../electron/contract/index.ts';
import { storedFacts } from '../../../electron/engine/service/runs/storedFacts.ts';
import { toRunEvent } from '../../../electron/engine/service/runs/runWatch.ts';
import type { StoredRuns } from './storedRuns.ts';
import { isAtWork, type World } from './world.ts';

/** The dashboard of a run at this tick: one device restarts, and one is left out. */
export async function madeLive(world: World, stored: StoredRuns, run: RunSummary): Promise<RunLive> {
  const store = await stored.of(run.runId);
  const { progress } = await storedFacts(store);
  const atWork = isAtWork(run);
  const fraction = run.fraction === null ? null : Math.min(1, run.fraction + world.tick / 40_000);
  const wave = (index: number) => Math.sin(world.tick / 19 + index * 1.7);
  return {
    run: { ...run, fraction },
    progress: {
      ...progress,
      fraction,
      elapsedSeconds: 2160 + world.tick / 4,
      ...(atWork && {
        remainingSeconds: { low: 2700, high: 3300 },
        residuesPerSecond: world.devices.length * 41_000 + wave(0) * 3000,
      }),
    },
    devices: world.devices.map((device, index) => {
      const computes = atWork && index !== 5 && index !== 6;
      return {
        ...device,
        worker: worker(world, index, atWork),
        partsDone: 112 + index,
        residuesDone: (112 + index) * 262_144,
        partFraction: atWork ? (world.tick / 40 + index * 0.13) % 1 : null,
        residuesPerSecond: computes ? 41_000 + wave(index) * 2400 : null,
        framesPerSecond: computes ? 245 + wave(index) * 14 : null,
        utilizationPercent: atWork ? 95 + Math.round(wave(index) * 4) : 0,
        temperatureC: 61 + Math.round(wave(index) * 3),
        powerW: 412 + Math.round(wave(index) * 25),
      };
    }),
    cluster:
      world.nodes === 0 || !atWork
        ? null
        : { kind: 'slurm', state: 'open', job: '4711', waiting: 2, reason: plain('Priority') },
    recentEvents: (await store.pageEvents(50)).map(toRunEvent),
  };
}

function worker(world: World, index: number, atWork: boolean): RunLive['devices'][number]['worker'] {
  if (!atWork) return { state: 'stopped' };
  if (index === 6) return { state: 'excluded' };
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
