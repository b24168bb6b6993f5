import type Database from 'better-sqlite3';
import { checkedTime } from '../database.ts';
import type { DeviceSampleRow, Milliseconds, RunEvent, SampleMeans, TimeSpan } from '../../types.ts';
import { wordingSchema, type Wording } from '../../../../contract/messages.ts';
import { parseJson } from '../../../../contract/parseJson.ts';

export function addEvent(db: Database.Database, event: RunEvent): void {
  db.prepare('INSERT INTO event (time, level, code, message, wording, detail) VALUES (?, ?, ?, ?, ?, ?)').run(
    Math.round(event.time),
    event.level,
    event.code,
    event.message,
    event.wording ? JSON.stringify(event.wording) : null,
    event.detail,
  );
}

export function telemetryWriteMethods(db: Database.Database) {
  const insertSample = db.prepare('INSERT OR REPLACE INTO device_sample VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  return {
    addEvent: (event: RunEvent): void => addEvent(db, event),
    addSamples: db.transaction((samples: DeviceSampleRow[]): void => {
      for (const sample of samples) {
        insertSample.run(
          sample.device,
          Math.round(sample.time),
          sample.utilizationPercent,
          sample.memoryUsedBytes,
          sample.powerW,
          sample.temperatureC,
          sample.residuesPerSecond,
          sample.framesPerSecond,
        );
      }
    }),
  };
}

/** Throws AppFailure if one has an impossible date. */
export function checkedEvents<Event extends RunEvent>(events: Event[]): Event[] {
  for (const { time } of events) checkedTime(time);
  return events;
}

export function telemetryReadMethods(db: Database.Database) {
  const selectSpan = db.prepare<{ device: string }, { first: number | null; last: number | null }>(`
    SELECT (SELECT min(time) FROM device_sample WHERE device = $device) AS first,
      (SELECT max(time) FROM device_sample WHERE device = $device) AS last`);
  const selectMeans = db.prepare<[string, number, number], Omit<SampleMeans, 'time'> & { samples: number }>(`
    SELECT count(*) AS samples, avg(utilization) AS utilizationPercent, avg(memory) AS memoryUsedBytes, avg(power) AS powerW,
      avg(temperature) AS temperatureC, avg(residues_per_s) AS residuesPerSecond
    FROM device_sample WHERE device = ? AND time BETWEEN ? AND ?`);

  function* means(device: string, { first, last }: TimeSpan, step: Milliseconds): Generator<SampleMeans> {
    for (let time = first; time <= last; time += step) {
      const { samples = 0, ...mean } = selectMeans.get(device, time, time + step - 1) ?? {};
      if (samples > 0) yield { time, ...mean } as SampleMeans;
    }
  }

  const selectRemarks = db.prepare<[number], RunEvent>(`
    SELECT time, level, code, message, detail FROM event
    WHERE level IN ('warning', 'error') ORDER BY event DESC LIMIT ?`);
  return {
    sampleSpan: (device: string): TimeSpan | null => {
      const { first = null, last = null } = selectSpan.get({ device }) ?? {};
      return first === null || last === null ? null : { first, last };
    },
    sampleMeans: (device: string, span: TimeSpan, step: Milliseconds): SampleMeans[] => [
      ...means(device, span, step),
    ],
    remarks: (limit: number): RunEvent[] => checkedEvents(selectRemarks.all(limit)).reverse(),
  };
}

/** Longer ones are not ours, and might be nested without end. */
const LONGEST_WORDING = 20_000;

export interface NumberedRunEvent extends RunEvent {
  id: number;
}

interface StoredEvent extends Omit<NumberedRunEvent, 'wording'> {
  wording: string | null;
}

/** The events of a run, newest first in the database, page by page backwards in time. */
export function eventPageMethods(db: Database.Database) {
  const select = db.prepare<[number, number], StoredEvent>(`
    SELECT event AS id, time, level, code, message, wording, detail FROM event
    WHERE event < ? AND level <> 'debug' ORDER BY event DESC LIMIT ?`);
  return {
    /** At most `limit` events before the one with the id `beforeId`, oldest first. */
    pageEvents: (limit: number, beforeId?: number): NumberedRunEvent[] =>
      checkedEvents(
        select
          .all(beforeId ?? Number.MAX_SAFE_INTEGER, limit)
          .map((event) => ({ ...event, wording: readWording(event.wording) })),
      ).reverse(),
  };
}

/** If it can't be read, the text beside it is shown. */
function readWording(stored: string | null): Wording | null {
  if (stored === null || stored.length > LONGEST_WORDING) return null;
  return parseJson(wordingSchema, stored) ?? null;
}
