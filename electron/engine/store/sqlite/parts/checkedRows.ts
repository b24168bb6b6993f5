import type Database from 'better-sqlite3';
import { type AppFailure, appFailure } from '../../../../contract/errors.ts';
import { message } from '../../../../contract/messages.ts';
import { framesIn } from '../../../results/sequenceTally.ts';
import { readRun } from '../runRows.ts';
import { refuseDamagedPlan } from './damage.ts';
import { Digests } from './digests.ts';

interface SealedPart {
  key: string;
  seal: string | null;
  firstRow: number;
  lastRow: number;
}

/**
 * Compares what is read of run.db with its digests: the plan, each file of records and each part once per
 * opening, and again if it is stored anew. The methods throw AppFailure.
 */
export class CheckedRows {
  readonly #db: Database.Database;
  readonly #digests: Digests;
  /** The seals that were right, of files of records by path and of parts by id. */
  readonly #right = new Map<string | number, string | null>();
  #isPlanRight = false;
  #areListsRight = false;
  readonly #files: Database.Statement<
    [number, number],
    { path: string; first: number; count: number; seal: string | null }
  >;
  readonly #part: Database.Statement<[number], SealedPart>;
  readonly #chunks: Database.Statement<[number], [part: number, frames: number]>;
  readonly #frames: Database.Statement<[number], number>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#digests = new Digests(db);
    this.#files = db.prepare(
      `SELECT path, first_row AS first, count, rows_sha256 AS seal FROM records_file
       WHERE first_row <= ? AND first_row + count > ? AND count > 0 ORDER BY first_row`,
    );
    this.#part = db.prepare(
      'SELECT key, rows_sha256 AS seal, first_row AS firstRow, last_row AS lastRow FROM part WHERE id = ?',
    );
    this.#chunks = db
      .prepare<[number], [part: number, frames: number]>('SELECT part, frames FROM chunk WHERE row = ?')
      .raw();
    this.#frames = db.prepare<[number], number>('SELECT n_frames FROM record WHERE row = ?').pluck();
  }

  plan(): void {
    if (this.#isPlanRight) return;
    refuseDamagedPlan(this.#db);
    this.#lists();
    this.#isPlanRight = true;
  }

  /** A damaged page of these lists can hide some of their lines, so that nobody looks at their digests. */
  #lists(): void {
    if (this.#areListsRight) return;
    for (const table of ['part', 'records_file'])
      if (this.#db.pragma(`quick_check(${table})`, { simple: true }) !== 'ok')
        throw damage('The list of the parts or of the files of names is damaged.');
    this.#areListsRight = true;
  }

  /** Names, lengths and places of these records, both included. */
  records(from: number, to: number): void {
    this.#lists();
    let next = from;
    for (const { path, first, count, seal } of this.#files.all(to, from)) {
      if (first > next) break;
      if (this.#right.get(path) !== seal) {
        if (this.#digests.ofRecords(first, count) !== seal) throw damagedRecords();
        this.#right.set(path, seal);
      }
      next = first + count;
    }
    // A run whose inputs are being read again has records that are in no file yet.
    if (next <= to && readRun(this.#db).prepared !== null) throw damagedRecords();
  }

  /** A settled part and its chunks. */
  part(id: number): SealedPart {
    this.#lists();
    const part = this.#part.get(id);
    if (!part) throw damagedScores();
    if (this.#right.get(id) !== part.seal) {
      if (this.#digests.ofPart(part.key).sha256 !== part.seal) throw damagedScores();
      this.#right.set(id, part.seal);
    }
    return part;
  }

  /** The chunks of these rows. */
  chunksOf(rows: Iterable<number>): void {
    const isDone = readRun(this.#db).state.phase === 'done';
    for (const row of rows) {
      let frames = 0;
      for (const [id, mask] of this.#chunks.all(row)) {
        const { firstRow, lastRow } = this.part(id);
        // The part's digest covers the chunks in its range.
        if (row < firstRow || row > lastRow) throw damagedScores();
        frames += framesIn(mask).length;
      }
      // No digest misses a row whose only chunk has got another number.
      if (isDone && frames !== this.#frames.get(row)) throw damagedScores();
    }
  }
}

const damagedRecords = (): AppFailure => damage('Stored names or lengths of sequences are damaged.');
const damagedScores = (): AppFailure => damage('Stored scores of sequences are damaged.');

function damage(cause: string): AppFailure {
  return appFailure('run_damaged', cause, { nextStep: message('run.damaged.next') });
}
