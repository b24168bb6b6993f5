import type Database from 'better-sqlite3';
import { checkedEvents } from './telemetry.ts';
import type { RunEvent } from '../types.ts';

export interface NumberedRunEvent extends RunEvent {
  id: number;
}

/** The events of a run, newest first in the database, page by page backwards in time. */
export function eventPageMethods(db: Database.Database) {
  const select = db.prepare<[number, number], NumberedRunEvent>(`
    SELECT event AS id, time, level, code, message, detail FROM event
    WHERE event < ? AND level <> 'debug' ORDER BY event DESC LIMIT ?`);
  return {
    /** At most `limit` events before the one called `beforeId`, oldest first. */
    pageEvents: (limit: number, beforeId?: number): NumberedRunEvent[] =>
      checkedEvents(select.all(beforeId ?? Number.MAX_SAFE_INTEGER, limit)).reverse(),
  };
}
