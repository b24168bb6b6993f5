import type Database from 'better-sqlite3';

/** A summary of a device's samples. Null if nothing was measured, as on a processor. */
export interface DeviceMeasures {
  device: string;
  /** These three cover only the time in which its worker computed. */
  utilizationMeanPercent: number | null;
  utilizationMedianPercent: number | null;
  powerMeanW: number | null;
  memoryPeakBytes: number | null;
  /**
   * How long it was present: from sample to sample, without the gaps. Null if there are fewer than two
   * samples.
   */
  sampledMilliseconds: number | null;
  /** Over all sampled time, including loading and waiting but not pauses. */
  energyWh: number | null;
}

/** Samples come every second; a longer gap means that the device was paused, or the computer slept. */
const LONGEST_GAP_MS = 5_000;
const MILLISECONDS_PER_HOUR = 3_600_000;

export function readDeviceMeasures(db: Database.Database): DeviceMeasures[] {
  interface Columns {
    device: string;
    power: number | null;
    memory: number | null;
    sampled: number | null;
    energy: number | null;
  }
  const rows = db
    .prepare<[], Columns>(
      `SELECT device,
         avg(power) FILTER (WHERE residues_per_s IS NOT NULL) AS power,
         max(memory) AS memory,
         sum(gap) FILTER (WHERE gap <= ${LONGEST_GAP_MS}) AS sampled,
         sum(power * gap) FILTER (WHERE gap <= ${LONGEST_GAP_MS}) / ${MILLISECONDS_PER_HOUR} AS energy
       FROM (SELECT *, time - lag(time) OVER (PARTITION BY device ORDER BY time) AS gap FROM device_sample)
       GROUP BY device ORDER BY device`,
    )
    .all();
  return rows.map(({ device, power, memory, sampled, energy }) => ({
    device,
    ...utilization(db, device),
    powerMeanW: power,
    memoryPeakBytes: memory,
    sampledMilliseconds: sampled,
    energyWh: energy,
  }));
}

/** Counts how often each value occurs; there are at most a hundred values, because NVML gives whole per cents. */
function utilization(
  db: Database.Database,
  device: string,
): Pick<DeviceMeasures, 'utilizationMeanPercent' | 'utilizationMedianPercent'> {
  const values = db
    .prepare<[string], { value: number; times: number }>(
      `SELECT utilization AS value, count(*) AS times FROM device_sample
       WHERE device = ? AND utilization IS NOT NULL AND residues_per_s IS NOT NULL GROUP BY value ORDER BY value`,
    )
    .all(device);
  const total = values.reduce((sum, { times }) => sum + times, 0);
  if (total === 0) return { utilizationMeanPercent: null, utilizationMedianPercent: null };
  const mean = values.reduce((sum, { value, times }) => sum + value * times, 0) / total;
  let before = 0;
  const middle = values.find(({ times }) => (before += times) * 2 >= total);
  return { utilizationMeanPercent: mean, utilizationMedianPercent: middle?.value ?? null };
}
