import type Database from 'better-sqlite3';
import { wordingSchema, type Wording } from '../../../../contract/messages.ts';
import { parseJson } from '../../../../contract/parseJson.ts';
import { checkedEvents } from './telemetry.ts';
import type { RunEvent } from '../../types.ts';

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
