import type Database from 'better-sqlite3';
import { AppFailure } from '../../../../../contract/errors.ts';
import { SequenceTally } from '../../../../results/sequenceTally.ts';
import { readRun } from '../../runRows.ts';
import { PROVISIONAL_SEQUENCES } from '../../runSchema.ts';
import { ChunkCursor, countRecords } from './recordScan.ts';
import type { RowRange } from '../resultColumns.ts';
import { SequenceRows } from './sequenceRows.ts';

/** A part of which nothing more will come, and what its rows are known by. */
interface SettledPart {
  key: string;
  number: number;
  firstRow: number;
  lastRow: number;
  seal: string | null;
}

/** What of the provisional results is not in memory yet, of whoever reads them there: he takes out what he has read. */
export interface ProvisionalChanges {
  /** Another table has another number, and lists from its beginning what was put into it. */
  generation: number;
  ranges: RowRange[];
}

interface Neighbour {
  isOpen: 0 | 1;
  firstRow: number;
  lastRow: number;
}

/**
 * Sequence results of a run that is not done yet, for whoever looks: of every record whose frames are all there. They stand in a
 * temporary table of this connection that hides the lasting one, so that a run that nobody looks at pays nothing for them, and a
 * connection that may only read can have them as well.
 */
export function provisionalSequences(db: Database.Database) {
  const changes: ProvisionalChanges = { generation: 0, ranges: [] };
  let derived: Map<string, SettledPart> | null = null;
  let recordFiles = new Map<string, string>();
  let isEndDerived = false;

  function begin(): Map<string, SettledPart> {
    db.exec(PROVISIONAL_SEQUENCES);
    changes.generation += 1;
    changes.ranges = [];
    return (derived = new Map<string, SettledPart>());
  }

  function discard(): void {
    if (derived) db.exec('DROP TABLE temp.sequence');
    derived = null;
    isEndDerived = false;
  }

  function forgetChanged(known: Map<string, SettledPart>, settled: SettledPart[]): void {
    const seals = new Map(settled.map(({ key, seal }) => [key, seal]));
    const forget = db.prepare('DELETE FROM temp.sequence WHERE row BETWEEN ? AND ?');
    for (const [key, { seal, firstRow, lastRow }] of known) {
      if (seals.has(key) && seals.get(key) === seal) continue;
      forget.run(firstRow, lastRow);
      changes.ranges.push({ from: firstRow, to: lastRow });
      known.delete(key);
    }
  }

  /** Goes on for about so long; answers whether everything is derived that can be. */
  function deriveProvisional(milliseconds: number): boolean {
    const files = readRecordFiles(db);
    const areRecordsOthers = [...recordFiles].some(([path, sha256]) => files.get(path) !== sha256);
    recordFiles = files;
    const isFinal = areSequencesFinal(db);
    if (isFinal || areRecordsOthers) discard();
    if (isFinal) return true;
    const known = derived ?? begin();
    const settled = readSettled(db);
    forgetChanged(known, settled);
    const until = performance.now() + milliseconds;
    for (const part of settled) {
      if (known.has(part.key)) continue;
      if (performance.now() > until) return false;
      const rows = rowsSettledBy(db, part);
      changes.ranges.push(rows);
      if (deriveRows(db, rows)) known.set(part.key, part);
    }
    const end = isEndDerived ? null : rowsBehindParts(db);
    if (end) {
      changes.ranges.push(end);
      isEndDerived = deriveRows(db, end);
    }
    return true;
  }

  return { changes, deriveProvisional: db.transaction(deriveProvisional) };
}

/** `deriveSequences` writes all of them at once, and whatever makes a part wait again deletes them. */
function areSequencesFinal(db: Database.Database): boolean {
  const { prepared } = readRun(db);
  if (prepared === null) return false;
  const { open, derived } = db
    .prepare<[], { open: 0 | 1; derived: number }>(
      `SELECT EXISTS (SELECT 1 FROM part WHERE state IN ('pending', 'assigned')) AS open,
         (SELECT coalesce(max(row) + 1, 0) FROM main.sequence) AS derived`,
    )
    .get()!;
  return open === 0 && derived === prepared.records;
}

function readRecordFiles(db: Database.Database): Map<string, string> {
  const files = db.prepare<[], [string, string]>('SELECT path, sha256 FROM records_file').raw().all();
  return new Map(files);
}

function readSettled(db: Database.Database): SettledPart[] {
  return db
    .prepare<[], SettledPart>(
      `SELECT key, number, first_row AS firstRow, last_row AS lastRow, coalesce(rows_sha256, scores_sha256) AS seal
       FROM part WHERE state IN ('done', 'failed', 'skipped') ORDER BY number, key`,
    )
    .all();
}

/** The part's own records, but not the one at either end that goes on in a part still to be computed; and beside them those
 * without a frame, which belong to no part. */
function rowsSettledBy(db: Database.Database, part: SettledPart): RowRange {
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
  const end = after.length > 0 ? Math.min(...after) - 1 : lastRow;
  return {
    from: goesOnAt(firstRow) ? firstRow + 1 : begin,
    to: goesOnAt(lastRow) ? lastRow - 1 : end,
  };
}

/** The records behind the last part have no frame. None while records are still being read. */
function rowsBehindParts(db: Database.Database): RowRange | null {
  const { prepared } = readRun(db);
  if (prepared === null) return null;
  const from = db.prepare<[], number>('SELECT coalesce(max(last_row) + 1, 0) FROM part').pluck().get()!;
  return { from, to: prepared.records - 1 };
}

/** Answers false where something in these rows is damaged. */
function deriveRows(db: Database.Database, { from, to }: RowRange): boolean {
  if (from > to) return true;
  const rows = new SequenceRows(db, 'temp');
  try {
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
  } catch (error) {
    // The run finds damage before its results are final; here the rest is shown without what is damaged.
    if (!(error instanceof AppFailure)) throw error;
    return false;
  }
  rows.flush();
  return true;
}
