import type Database from 'better-sqlite3';
import { partKeySchema, sha256Schema } from '../../../../contract/protocol/common.ts';
import { partFailureCodeSchema, type PartFailureCode } from '../../../../contract/problems.ts';
import type { PartState } from '../../../../contract/runState.ts';
import { damaged } from '../database.ts';
import type { AttemptEnd, StoredPart } from '../../types.ts';

/** A part with its number in the database, which its chunk rows refer to. */
export interface PartRow extends StoredPart {
  id: number;
  /** The number from prepare; bisected parts share it. */
  number: number;
  batchHalvings: number;
}

/** The columns of a part, with the names that it has outside the database. */
const COLUMNS = `id, key, number, parent, sha256, frame_begin AS frameBegin, frame_end AS frameEnd, frames, residues,
  chunks, first_row AS firstRow, last_row AS lastRow, round, state, attempts, device, seconds,
  batch_halvings AS batchHalvings, bisected, failure_code AS failureCode, failure_message AS failureMessage`;

interface PartColumns extends Omit<PartRow, 'path' | 'failure' | 'bisected'> {
  bisected: number;
  failureCode: PartFailureCode | null;
  failureMessage: string | null;
}

export function findPart(db: Database.Database, key: string): PartRow | null {
  const row = db.prepare<[string], PartColumns>(`SELECT ${COLUMNS} FROM part WHERE key = ?`).get(key);
  return row ? toPartRow(row) : null;
}

export function partReadMethods(db: Database.Database) {
  const byState = db.prepare<[PartState, number], PartColumns>(
    `SELECT ${COLUMNS} FROM part WHERE state = ? ORDER BY number, key LIMIT ?`,
  );
  const embeddings = db.prepare<[], { key: string; sha256: string }>(
    `SELECT key, embeddings_sha256 AS sha256 FROM part
     WHERE state = 'done' AND embeddings_sha256 IS NOT NULL ORDER BY number, key`,
  );
  const failed = db.prepare<[number], FailedColumns>(
    `SELECT ${COLUMNS}, (SELECT log FROM attempt WHERE attempt.part = part.key ORDER BY attempt DESC LIMIT 1) AS log,
       ${nameAt('first_row')} AS firstName, ${nameAt('last_row')} AS lastName
     FROM part WHERE state = 'failed' ORDER BY number, key LIMIT ?`,
  );
  return {
    /** The first parts that failed, as a window lists them. */
    failedParts: (limit: number): FailedPart[] =>
      failed.all(limit).map(({ log, firstName, lastName, ...part }) => ({
        ...toPartRow(part),
        ...{ log, firstName, lastName },
      })),
    pendingParts: (limit?: number): StoredPart[] => byState.all('pending', limit ?? -1).map(toPartRow),
    partsIn: (state: PartState): StoredPart[] => byState.all(state, -1).map(toPartRow),
    /** Digests of the files below work/embeddings, as their workers reported them. */
    embeddingFiles: (): { key: string; sha256: string }[] => embeddings.all(),
    part: (key: string): StoredPart | null => findPart(db, key),
  };
}

/** Ends the open attempts of one part, inside the caller's transaction. */
export function endAttemptsOf(db: Database.Database, key: string, how: AttemptEnd): void {
  db.prepare(
    'UPDATE attempt SET ended_at = ?, outcome = ?, code = ?, message = ? WHERE part = ? AND ended_at IS NULL',
  ).run(Math.round(how.endedAt), how.outcome, how.code ?? null, how.message ?? null, key);
}

export function isAttemptOpen(db: Database.Database, attempt: number, key: string): boolean {
  const open = db.prepare('SELECT 1 FROM attempt WHERE attempt = ? AND part = ? AND ended_at IS NULL');
  return open.get(attempt, key) !== undefined;
}

/** Deletes the chunk rows of a part by their range of rows, as chunk rows have no index by part. */
export function deleteChunksOf(db: Database.Database, part: PartRow): void {
  db.prepare('DELETE FROM chunk WHERE row BETWEEN ? AND ? AND part = ?').run(
    part.firstRow,
    part.lastRow,
    part.id,
  );
}

/** Longer than any key from repeated halving; file names are made from keys. */
const LONGEST_KEY = 200;

/**
 * File with the frames of a part, below the run's folder; parts cut from one share it. It depends on the key
 * alone: other columns of run.db may be damaged, or forged.
 */
export function partPath(key: string): string {
  return `work/parts/${checkedKey(key).replace(/\..*$/, '')}.safetensors`;
}

/** File into which a worker writes the scores of a part, below the run's folder. */
export function scoresPath(key: string): string {
  return `work/scores/${checkedKey(key)}.safetensors`;
}

function checkedKey(key: string): string {
  if (key.length <= LONGEST_KEY && partKeySchema.safeParse(key).success) return key;
  throw damaged('run.db holds a part whose name cannot be one.', key.slice(0, LONGEST_KEY));
}

function fitsTogether(row: PartColumns): boolean {
  const counts = [row.frameBegin, row.residues, row.chunks, row.firstRow, row.round, row.attempts, row.batchHalvings]; // prettier-ignore
  return (
    row.number === Number(row.key.replace(/\..*$/, '')) &&
    row.parent === (row.key.includes('.') ? row.key.slice(0, -2) : null) &&
    sha256Schema.safeParse(row.sha256).success &&
    counts.every((count) => Number.isSafeInteger(count) && count >= 0) &&
    row.frames > 0 &&
    row.frames === row.frameEnd - row.frameBegin &&
    row.firstRow <= row.lastRow &&
    (row.failureCode === null || partFailureCodeSchema.safeParse(row.failureCode).success)
  );
}

/**
 * Validates a row that the rest of the program trusts. Throws AppFailure if this program can't have written
 * it.
 */
function toPartRow(row: PartColumns): PartRow {
  const { bisected, failureCode: code, failureMessage, ...columns } = row;
  const path = partPath(row.key);
  if (!fitsTogether(row)) throw damaged(`What run.db says of part ${row.key} does not fit together.`);
  const failure = code === null ? null : { code, message: failureMessage ?? '' };
  return { ...columns, path, failure, bisected: bisected === 1 };
}

export interface FailedPart extends StoredPart {
  /** The log file of the newest attempt, relative to the run folder. */
  log: string | null;
  /** Names of its first and last sequence; long names are cut. Sequences of a file that is still being read have a number. */
  firstName: string;
  lastName: string;
}
type FailedColumns = PartColumns & Pick<FailedPart, 'log' | 'firstName' | 'lastName'>;

const nameAt = (row: string): string =>
  `coalesce((SELECT substr(name, 1, 200) FROM record WHERE row = ${row}), CAST(${row} + 1 AS TEXT))`;
