import type Database from 'better-sqlite3';
import { isActive } from '../../../../contract/runState.ts';
import { readRun } from '../runRows.ts';
import { checkedTime } from '../storeErrors.ts';
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
