import { placementSchema } from '../../../contract/protocol/index.ts';
import type { DeviceLive, RunLive } from '../../../contract/rpc/runs.ts';
import { runProgress } from '../../run/progress/runProgress.ts';
import type { RunStore } from '../../store/runStoreFace.ts';

/** How far a run is and how its devices do. */
export type LiveFacts = Pick<RunLive, 'progress' | 'devices' | 'cluster'>;

/** Of a run that nobody works on here: what its database says. */
export async function storedFacts(store: RunStore): Promise<LiveFacts> {
  const [run, timings, summaries, inputs] = await Promise.all([
    store.loadRun(),
    store.timings(),
    store.deviceSummaries(),
    store.inputProgress(),
  ]);
  const devices = run.devices.map((device): DeviceLive => {
    const done = summaries.find((summary) => summary.device === device.id);
    const { index, tokensPerBatch, placement, node, numberOnNode } = device.facts;
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
      residuesPerSecond: null,
      framesPerSecond: null,
      tokensPerBatch: typeof tokensPerBatch === 'number' ? tokensPerBatch : null,
      placement: placementSchema.safeParse(placement).data ?? null,
      utilizationPercent: null,
      memoryUsedBytes: null,
      temperatureC: null,
      powerW: null,
    };
  });
  const elapsedSeconds = Math.floor(timings.workingMilliseconds / 1000);
  return { progress: runProgress(run, run.counts, inputs, elapsedSeconds), devices, cluster: null };
}
