import type { DeviceMeasures } from '../../store/sqlite/telemetry/deviceMeasures.ts';
import type { DeviceSummary, JsonObject, RunDevice, RunTimings } from '../../store/types.ts';

/**
 * The share of computing time from which a device counts as kept busy, and the shortest time for which that
 * is judged, since loading dominates before.
 */
const BUSY_ENOUGH = 0.8;
const LONG_ENOUGH_MS = 10 * 60_000;

export type DeviceReport = ReturnType<typeof deviceReports>[number];

/** Performance of each device in a run, for run.json and `virnucpro status`. */
export function deviceReports(
  devices: readonly RunDevice[],
  done: readonly DeviceSummary[],
  measured: readonly DeviceMeasures[],
  { workingMilliseconds }: Pick<RunTimings, 'workingMilliseconds'>,
) {
  return devices.map(({ id, name, kind, facts: noted, switchedOff }) => {
    // Controls belong to a kind of device and are reported separately.
    const facts: JsonObject = { ...noted };
    delete facts['controls'];
    const work = done.find(({ device }) => device === id);
    const measures = measured.find(({ device }) => device === id);
    const seconds = work?.seconds ?? 0;
    // Devices of a cluster come and go during a run.
    const sampled = typeof facts['node'] === 'string' ? measures?.sampledMilliseconds : undefined;
    const thereMilliseconds = Math.min(workingMilliseconds, sampled ?? workingMilliseconds);
    // Share of the time for which the run was computing and the device was present: the rest is loading,
    // waiting, and work that was lost with a worker.
    const busy = thereMilliseconds > 0 ? Math.min(1, (1000 * seconds) / thereMilliseconds) : null;
    return {
      id,
      name,
      kind,
      ...facts,
      switched_off: switchedOff?.cause ?? null,
      parts: work?.parts ?? 0,
      frames: work?.frames ?? 0,
      residues: work?.residues ?? 0,
      seconds,
      residues_per_second: work && seconds > 0 ? rounded(work.residues / seconds, 1) : null,
      busy_share: rounded(busy, 4),
      // Null for runs that are too short to tell.
      kept_busy: busy === null || thereMilliseconds < LONG_ENOUGH_MS ? null : busy >= BUSY_ENOUGH,
      utilization_mean_percent: rounded(measures?.utilizationMeanPercent ?? null, 1),
      utilization_median_percent: rounded(measures?.utilizationMedianPercent ?? null, 1),
      memory_peak_bytes: measures?.memoryPeakBytes ?? null,
      power_mean_w: rounded(measures?.powerMeanW ?? null, 1),
      energy_wh: rounded(measures?.energyWh ?? null, 3),
    };
  });
}

function rounded<Value extends number | null>(value: Value, digits: number): Value {
  return (value === null ? null : Number(value.toFixed(digits))) as Value;
}
