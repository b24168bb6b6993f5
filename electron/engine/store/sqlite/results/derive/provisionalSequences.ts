import type Database from 'better-sqlite3';
import { AppFailure } from '../../../../../contract/errors.ts';
import { SequenceTally, type SequenceSummary } from '../../../../results/sequenceTally.ts';
import { readRun } from '../../runRows.ts';
import { ChunkCursor, scanRecords, type DescribedRecord } from './recordScan.ts';

/** A part of which nothing more will come, and what its rows are known by. */
interface SettledPart {
  key: string;
  number: number;
  firstRow: number;
  lastRow: number;
  seal: string | null;
}

export interface ProvisionalRow {
  record: DescribedRecord;
  summary: SequenceSummary;
}

/** What has changed since the last call. */
export interface ProvisionalChanges {
  /** Rows whose earlier results no longer hold; `all` also at the beginning. */
  changed: readonly RowRange[] | 'all';
  /** By their number: a record at the edge of two parts is derived with both. */
  rows: ReadonlyMap<number, ProvisionalRow>;
  /** Whether everything is derived that can be. */
  done: boolean;
}

/** Both included. */
interface RowRange {
  from: number;
  to: number;
}

interface Neighbour {
  isOpen: 0 | 1;
  firstRow: number;
  lastRow: number;
}

/** Derives sequence results from run.db while the run goes on: of every record whose frames are all there, part by part. */
export function provisionalSequences(db: Database.Database) {
  let derived: Map<string, SettledPart> | null = null;
  let recordFiles = new Map<string, string>();
  let isEndDerived = false;

  function discard(): void {
    derived = null;
    isEndDerived = false;
  }

  function forgetChanged(known: Map<string, SettledPart>, settled: SettledPart[]): RowRange[] {
    const seals = new Map(settled.map(({ key, seal }) => [key, seal]));
    const forgotten: RowRange[] = [];
    for (const [key, { seal, firstRow, lastRow }] of known) {
      if (seals.has(key) && seals.get(key) === seal) continue;
      forgotten.push({ from: firstRow, to: lastRow });
      known.delete(key);
    }
    return forgotten;
  }

  /** Goes on for about so long. */
  function derive(milliseconds: number): ProvisionalChanges {
    const files = readRecordFiles(db);
    if ([...recordFiles].some(([path, sha256]) => files.get(path) !== sha256)) discard();
    recordFiles = files;
    const isNew = derived === null;
    const known = (derived ??= new Map<string, SettledPart>());
    const settled = readSettled(db);
    const changed = forgetChanged(known, settled);
    const rows = new Map<number, ProvisionalRow>();
    const until = performance.now() + milliseconds;
    const changes = (done: boolean): ProvisionalChanges => ({ changed: isNew ? 'all' : changed, rows, done });
    for (const part of settled) {
      if (known.has(part.key)) continue;
      if (performance.now() > until) return changes(false);
      const range = rowsSettledBy(db, part);
      changed.push(range);
      const found = deriveRows(db, range);
      if (found) known.set(part.key, part);
      for (const one of found ?? []) rows.set(one.record.row, one);
    }
    const end = isEndDerived ? null : rowsBehindParts(db);
    if (end) {
      changed.push(end);
      const found = deriveRows(db, end);
      isEndDerived = found !== null;
      for (const one of found ?? []) rows.set(one.record.row, one);
    }
    return changes(true);
  }

  return { derive: db.transaction(derive), discard };
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

/** Null where something in these rows is damaged: the run finds that before its results are final; the rest is shown without it. */
function deriveRows(db: Database.Database, { from, to }: RowRange): ProvisionalRow[] | null {
  const rows: ProvisionalRow[] = [];
  try {
    const cursor = new ChunkCursor(db, from, to);
    for (const record of scanRecords(db, from, to)) {
      const tally = new SequenceTally();
      for (let chunk = cursor.current; chunk && chunk.row <= record.row; chunk = cursor.current) {
        if (chunk.row === record.row) tally.add(chunk);
        cursor.advance();
      }
      const summary = tally.summary(record.fault);
      if (summary.nFrames === record.nFrames) rows.push({ record, summary });
    }
  } catch (error) {
    if (!(error instanceof AppFailure)) throw error;
    return null;
  }
  return rows;
}
