import type Database from 'better-sqlite3';
import { isActive } from '../../../contract/runState.ts';
import { readRun } from './runRows.ts';
import { checkedTime } from './storeErrors.ts';
import type { DeviceSummary, RunTimings } from '../types.ts';

/** When the run was at work, and for how long. */
export function readTimings(db: Database.Database): RunTimings {
  const { createdAt } = readRun(db).description;
  const phases = db
    .prepare<[], { time: number; phase: string }>(
      `SELECT time, message AS phase FROM event WHERE code = 'phase' ORDER BY event`,
    )
    .all();
  for (const { time } of phases) checkedTime(time);
  let workingMilliseconds = 0;
  for (const [i, { time, phase }] of phases.entries()) {
    if (isActive({ phase }))
      workingMilliseconds += Math.max(0, (phases[i + 1] ?? lastSign(db, time)).time - time);
  }
  return {
    createdAt,
    startedAt: phases.find(({ phase }) => phase === 'running')?.time ?? null,
    lastChangeAt: phases.at(-1)?.time ?? createdAt,
    workingMilliseconds,
  };
}

/** The newest time that stands in the database: the end of a phase that is still going on, or that a crash cut short. */
function lastSign(db: Database.Database, from: number): { time: number } {
  const newest = db
    .prepare<[], number>(
      `SELECT max(t) FROM (SELECT max(time) AS t FROM event UNION ALL SELECT max(ended_at) FROM attempt)`,
    )
    .pluck()
    .get();
  return { time: Math.max(from, newest ?? from) };
}

export function readDeviceSummaries(db: Database.Database): DeviceSummary[] {
  return db
    .prepare<[], DeviceSummary>(
      `SELECT device, count(*) AS parts, sum(frames) AS frames, sum(residues) AS residues, sum(seconds) AS seconds
       FROM part WHERE state = 'done' AND device IS NOT NULL GROUP BY device ORDER BY device`,
    )
    .all();
}
