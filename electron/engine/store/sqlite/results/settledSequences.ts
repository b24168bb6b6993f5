import type Database from 'better-sqlite3';
import { AppFailure } from '../../../../contract/errors.ts';
import { readRun } from '../runRows.ts';
import { SequenceTally } from '../../../results/sequenceTally.ts';
import { ChunkCursor, countRecords } from './recordScan.ts';
import { SequenceRows } from './sequenceRows.ts';

/** The rows that a part holds frames of, and its number from prepare. */
export interface PartRange {
  key: string;
  number: number;
  firstRow: number;
  lastRow: number;
}

interface Neighbour {
  isOpen: 0 | 1;
  firstRow: number;
  lastRow: number;
}

/**
 * Derives the sequence results that a settled part completes, so that a run shows what it has before it is done. They are
 * provisional: when the run finishes, all are derived anew by `deriveSequences`. A record is left out until every one of
 * its frames is there.
 */
export function deriveSettled(db: Database.Database, part: PartRange): void {
  try {
    const { from, to } = rowsSettledBy(db, part);
    if (from <= to) deriveRows(db, from, to);
  } catch (error) {
    // Damage elsewhere in the run must not cost a part that was computed: it is found before results are final.
    if (!(error instanceof AppFailure)) throw error;
  }
}

/** The same for every settled part that has none of its sequences, as in a run of an earlier version. */
export function deriveMissing(db: Database.Database): void {
  const parts = db
    .prepare<[], PartRange>(
      `SELECT key, number, first_row AS firstRow, last_row AS lastRow FROM part
       WHERE state IN ('done', 'failed', 'skipped')
         AND NOT EXISTS (SELECT 1 FROM sequence WHERE row BETWEEN first_row AND last_row)
       ORDER BY number, key`,
    )
    .all();
  for (const part of parts) deriveSettled(db, part);
}

/** Sequence results that rest on these rows no longer hold. */
export function forgetSequences(db: Database.Database, firstRow: number, lastRow: number): void {
  db.prepare('DELETE FROM sequence WHERE row BETWEEN ? AND ?').run(firstRow, lastRow);
}

/** The part's own records, but not the one at either end that goes on in a part still to be computed; and beside them those
 * without a frame, which belong to no part. */
function rowsSettledBy(db: Database.Database, part: PartRange): { from: number; to: number } {
  const { key, number, firstRow, lastRow } = part;
  const near = db
    .prepare<[number, number, string], Neighbour>(
      `SELECT state IN ('pending', 'assigned') AS isOpen, first_row AS firstRow, last_row AS lastRow FROM part
       WHERE number BETWEEN ? AND ? AND key <> ? AND state <> 'split'`,
    )
    .all(number - 1, number + 1, key);
  const goesOnAt = (row: number): boolean =>
    near.some((other) => other.isOpen === 1 && other.firstRow <= row && other.lastRow >= row);
  const before = near.filter((other) => other.lastRow < firstRow).map((other) => other.lastRow);
  const after = near.filter((other) => other.firstRow > lastRow).map((other) => other.firstRow);
  const begin = before.length > 0 ? Math.max(...before) + 1 : number === 0 ? 0 : firstRow;
  const end = after.length > 0 ? Math.min(...after) - 1 : endOfRun(db, lastRow);
  return {
    from: goesOnAt(firstRow) ? firstRow + 1 : begin,
    to: goesOnAt(lastRow) ? lastRow - 1 : end,
  };
}

/** The last part settles all records behind it as well, once they are known. */
function endOfRun(db: Database.Database, lastRow: number): number {
  const { prepared } = readRun(db);
  return prepared === null ? lastRow : Math.max(lastRow, prepared.records - 1);
}

function deriveRows(db: Database.Database, from: number, to: number): void {
  const rows = new SequenceRows(db);
  const cursor = new ChunkCursor(db, from, to);
  for (const record of countRecords(db, from, to)) {
    const tally = new SequenceTally();
    for (let chunk = cursor.current; chunk && chunk.row <= record.row; chunk = cursor.current) {
      if (chunk.row === record.row) tally.add(chunk);
      cursor.advance();
    }
    const summary = tally.summary(record.fault);
    if (summary.nFrames === record.nFrames) rows.add(record, summary);
  }
  rows.flush();
}
