import type Database from 'better-sqlite3';
import type { PartFailureCode } from '../../../../contract/protocol/index.ts';
import type { PartState } from '../../../../contract/runState.ts';
import type { StoredPart } from '../../types.ts';

/** A part with its number in the database, under which its chunk rows stand. */
export interface PartRow extends StoredPart {
  id: number;
  /** From prepare; bisected parts share it. */
  number: number;
}

export interface PartColumns {
  id: number;
  key: string;
  number: number;
  parent: string | null;
  path: string;
  sha256: string;
  frame_begin: number;
  frame_end: number;
  frames: number;
  residues: number;
  chunks: number;
  first_row: number;
  last_row: number;
  state: PartState;
  attempts: number;
  device: string | null;
  seconds: number | null;
  recomputed_fp32: number;
  batch_halvings: number;
  bisected: number;
  failure_code: PartFailureCode | null;
  failure_message: string | null;
}

export function findPart(db: Database.Database, key: string): PartRow | null {
  const row = db.prepare<[string], PartColumns>('SELECT * FROM part WHERE key = ?').get(key);
  return row ? toPartRow(row) : null;
}

export function partReadMethods(db: Database.Database) {
  const byState = db.prepare<[PartState, number], PartColumns>(
    'SELECT * FROM part WHERE state = ? ORDER BY number, key LIMIT ?',
  );
  return {
    pendingParts: (limit?: number): StoredPart[] => byState.all('pending', limit ?? -1).map(toPartRow),
    partsIn: (state: PartState): StoredPart[] => byState.all(state, -1).map(toPartRow),
    part: (key: string): StoredPart | null => findPart(db, key),
  };
}

/** Deletes the chunk rows that came from a part. By the range of its rows, as chunk rows have no index by part. */
export function deleteChunksOf(db: Database.Database, part: PartRow): void {
  db.prepare('DELETE FROM chunk WHERE row BETWEEN ? AND ? AND part = ?').run(
    part.firstRow,
    part.lastRow,
    part.id,
  );
}

export function toPartRow(row: PartColumns): PartRow {
  return {
    id: row.id,
    key: row.key,
    number: row.number,
    parent: row.parent,
    path: row.path,
    sha256: row.sha256,
    frameBegin: row.frame_begin,
    frameEnd: row.frame_end,
    frames: row.frames,
    residues: row.residues,
    chunks: row.chunks,
    firstRow: row.first_row,
    lastRow: row.last_row,
    state: row.state,
    attempts: row.attempts,
    device: row.device,
    seconds: row.seconds,
    failure:
      row.failure_code === null ? null : { code: row.failure_code, message: row.failure_message ?? '' },
    recomputedFp32: row.recomputed_fp32,
    batchHalvings: row.batch_halvings,
    bisected: row.bisected === 1,
  };
}
