import { placementSchema } from '../../../contract/protocol/index.ts';
import {
  NO_WORKER_FIGURES,
  workerFiguresSchema,
  type DeviceLive,
  type RunLive,
} from '../../../contract/rpc/runs.ts';
import { runProgress, type WorkUnderWay } from '../../run/progress/runProgress.ts';
import { sharesBegun, type SharesBegun } from '../../run/shares/shareStatus.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { StoredRun } from '../../store/types.ts';

/** The period over which devices measure their speed. */
const MEASURED_SECONDS = 60;

export type LiveFacts = Pick<RunLive, 'progress' | 'devices' | 'cluster'>;

/**
 * Facts about a run that is not computed here: from its database, and from the shares that others compute.
 */
export async function storedFacts(store: RunStore): Promise<LiveFacts> {
  const [run, timings, summaries, inputs] = await Promise.all([
    store.loadRun(),
    store.timings(),
    store.deviceSummaries(),
    store.inputProgress(),
  ]);
  const shares = await sharesBegun(store);
  const devices = run.devices.map((device): DeviceLive => {
    const done = summaries.find((summary) => summary.device === device.id);
    const { index, memoryTotalBytes, tokensPerBatch, placement, node, numberOnNode } = device.facts;
    return {
      id: device.id,
      name: device.name,
      index: typeof index === 'number' ? index : null,
      place:
        typeof node === 'string' && typeof numberOnNode === 'number' ? { node, number: numberOnNode } : null,
      worker: device.switchedOff
        ? { state: 'switched_off', error: device.switchedOff }
        : { state: 'stopped' },
      partFraction: null,
      partsDone: done?.parts ?? 0,
      residuesDone: done?.residues ?? 0,
      residuesPerSecond: null,
      framesPerSecond: null,
      tokensPerBatch: typeof tokensPerBatch === 'number' ? tokensPerBatch : null,
      placement: placementSchema.safeParse(placement).data ?? null,
      utilizationPercent: null,
      memoryUsedBytes: null,
      memoryTotalBytes: typeof memoryTotalBytes === 'number' ? memoryTotalBytes : null,
      temperatureC: null,
      powerW: null,
      ...(workerFiguresSchema.safeParse(device.facts).data ?? NO_WORKER_FIGURES),
    };
  });
  const elsewhere = shares === null ? undefined : workOfShares(run, shares);
  const progress = runProgress(run, run.counts, inputs, timings.workingMilliseconds / 1000, elsewhere);
  const computing = new Map(shares?.devices.map((device) => [device.id, device]));
  const rest = devices.filter(({ id }) => !computing.has(id));
  return { progress, devices: [...rest, ...computing.values()], cluster: null };
}

function workOfShares(run: StoredRun, shares: SharesBegun): WorkUnderWay {
  const { residuesPerSecond } = shares;
  const now = residuesPerSecond ?? 0;
  return {
    prepare: null,
    prepareFinished: run.prepared !== null,
    residuesInWork: 0,
    partsInWork: run.counts.parts.assigned,
    elsewhere: shares,
    residuesPerSecond,
    speeds: now > 0 ? { now, overall: now, seconds: MEASURED_SECONDS, growth: 1 } : null,
  };
}
