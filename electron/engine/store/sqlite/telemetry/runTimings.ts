import type Database from 'better-sqlite3';
import { isActive } from '../../../../contract/runState.ts';
import { readRun } from '../runRows.ts';
import { checkedTime } from '../database.ts';
import type { DeviceSummary, RunTimings } from '../../types.ts';

/** Code of the event with which a run is resumed after a crash. */
export const INTERRUPTED = 'run_interrupted';

/** When the run was computing, and for how long. */
export function readTimings(db: Database.Database): RunTimings {
  const { createdAt } = readRun(db).description;
  const phases = db
    .prepare<[], Phase>(`SELECT event, time, message AS phase FROM event WHERE code = 'phase' ORDER BY event`)
    .all();
  for (const { time } of phases) checkedTime(time);
  let workingMilliseconds = 0;
  for (const [i, phase] of phases.entries()) {
    if (isActive(phase)) workingMilliseconds += Math.max(0, endOf(db, phase, phases[i + 1]) - phase.time);
  }
  return {
    createdAt,
    startedAt: phases.find(({ phase }) => phase === 'running')?.time ?? null,
    lastChangeAt: phases.at(-1)?.time ?? createdAt,
    workingMilliseconds,
  };
}

interface Phase {
  event: number;
  time: number;
  phase: string;
}

/**
 * The end of a computing phase. A phase that a crash cut short ends with its last sample, and not when the
 * run was resumed.
 */
function endOf(db: Database.Database, phase: Phase, next: Phase | undefined): number {
  if (next && !wasInterrupted(db, phase, next)) return next.time;
  const last = db
    .prepare<[{ from: number; before: number; end: number }], number>(
      `SELECT max(t) FROM (
         SELECT max(time) AS t FROM event WHERE event < $end AND code <> '${INTERRUPTED}'
           AND event < coalesce((SELECT min(event) FROM event WHERE code = '${INTERRUPTED}' AND event > $from), $end)
         UNION ALL SELECT max(started_at) FROM attempt WHERE started_at < $before
         UNION ALL SELECT max(ended_at) FROM attempt WHERE ended_at < $before AND outcome <> 'interrupted'
         UNION ALL SELECT max(time) FROM device_sample WHERE time < $before)`,
    )
    .pluck()
    .get({
      from: phase.event,
      end: next?.event ?? Number.MAX_SAFE_INTEGER,
      before: next?.time ?? Number.MAX_SAFE_INTEGER,
    });
  return Math.max(phase.time, last ?? phase.time);
}

function wasInterrupted(db: Database.Database, phase: Phase, next: Phase): boolean {
  return (
    db
      .prepare<[number, number], 1>(
        `SELECT 1 FROM event WHERE event > ? AND event < ? AND code = '${INTERRUPTED}'`,
      )
      .get(phase.event, next.event) !== undefined
  );
}

export function readDeviceSummaries(db: Database.Database): DeviceSummary[] {
  return db
    .prepare<[], DeviceSummary>(
      `SELECT device, count(*) AS parts, sum(frames) AS frames, sum(residues) AS residues, sum(seconds) AS seconds
       FROM part WHERE state = 'done' AND device IS NOT NULL GROUP BY device ORDER BY device`,
    )
    .all();
}

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
