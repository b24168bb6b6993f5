import type Database from 'better-sqlite3';
import type { Reason } from '../../../../../contract/results.ts';
import { damaged } from '../../database.ts';
import {
  type ScorePairs,
  chunkCount,
  framesIn,
  isFrameMask,
  type ChunkScores,
  SequenceTally,
  type SequenceSummary,
} from '../../../../results/sequenceTally.ts';
import type { DescribedRecord } from '../../../../results/sequenceRow.ts';
import { readPlan } from '../../runRows.ts';
import { type AppFailure, appFailure } from '../../../../../contract/errors.ts';

const PAGE_ROWS = 128;
/** Characters of a float32 in hexadecimal. */
const HEX_PER_SCORE = 8;
const NO_PAIRS = new Float32Array(0);
/** Two float32 values. */
const BYTES_PER_FRAME = 8;
/** The bytes of the twelve frames of two shorter chunks, and one more, which reveals a longer text without reading all of it. */
const SCORES_READ_BYTES = 12 * BYTES_PER_FRAME + 1;
export const SCORES_READ = `substr(scores, 1, ${SCORES_READ_BYTES})`;

/** True, in SQL, of chunks with frames of their own: those of shorter chunks begin at bit 6. */
export const NOT_OF_SECOND_LOOK = 'chunk.frames < 64';

/** What is needed to sum up a record's chunks. */
export interface CountedRecord {
  row: number;
  nChunks: number;
  nFrames: number;
  length: number;
  fault: Reason | null;
}

export interface ScannedRecord extends CountedRecord, DescribedRecord {}

/**
 * A chunk row, with the number of the part it came from. Its scores are on the cursor's page, and valid only
 * as long as that.
 */
export interface ScannedChunk extends ChunkScores {
  row: number;
  part: number;
}

const LAST_ROW = Number.MAX_SAFE_INTEGER;

/** The columns of table record for a ScannedRecord. */
export const DESCRIBED =
  'row, n_chunks AS nChunks, n_frames AS nFrames, length, reason AS fault, input, name, header, n_lost AS nChunksLost, ' +
  'n_lost_to_tag AS nChunksLostToTag, n_lost_to_tga AS nChunksLostToTga, genetic_code AS geneticCodeHint, terminal_repeat AS terminalRepeat, terminal_repeat_length AS terminalRepeatLength';

/**
 * Reads the records in order, or only the rows between two, both included. Only one page is in memory at a
 * time, so that the connection is free to write in between. Throws AppFailure if a record cannot have that
 * many chunks.
 */
export function* scanRecords(db: Database.Database, from = 0, to = LAST_ROW): Generator<ScannedRecord> {
  const page = db.prepare<[number, number, number], ScannedRecord>(
    `SELECT ${DESCRIBED} FROM record WHERE row > ? AND row <= ? ORDER BY row LIMIT ?`,
  );
  const { chunkLength } = readPlan(db);
  for (let last = from - 1; ;) {
    const records = page.all(last, to, PAGE_ROWS);
    if (records.length === 0) return;
    for (const { row, length, nChunks } of records)
      if (nChunks > chunkCount(length, chunkLength))
        throw damaged(`run.db holds a false length of row ${row}.`);
    yield* records;
    last = records[records.length - 1]!.row;
  }
}

/**
 * Scores are read as hexadecimal text: SQLite returns a million short texts much faster than as many blobs.
 */
type ChunkTuple = [number, number, number, number, number, string, Reason | null];

/** Iterates over the chunk rows in order, or only those of some rows, with one page in memory at a time. */
export class ChunkCursor {
  /** The current chunk; null after the last one. */
  current: ScannedChunk | null = null;
  readonly #statement: Database.Statement<[number, number, number, number], ChunkTuple>;
  #to: number;
  #page: ChunkTuple[] = [];
  #next = 0;
  /**
   * The bytes of a page's scores, in a reused buffer: V8 would let those of many pages accumulate before it
   * collects them.
   */
  readonly #bytes = Buffer.alloc(PAGE_ROWS * SCORES_READ_BYTES);
  /** Scores of the whole page, and how many of them have been passed. */
  #pairs: ScorePairs = NO_PAIRS;
  #used = 0;

  constructor(db: Database.Database, from = 0, to = LAST_ROW) {
    this.#to = to;
    this.#statement = db
      .prepare<[number, number, number, number], ChunkTuple>(
        `SELECT row, chunk, part, frames, unscored, hex(${SCORES_READ}), reason FROM chunk
         WHERE (row, chunk) > (?, ?) AND row <= ? ORDER BY row, chunk LIMIT ?`,
      )
      .raw();
    this.#load(from, -1);
  }

  /** Moves to the first chunk of this record, and ends after its last. */
  only(row: number): void {
    this.#to = row;
    this.#load(row, -1);
  }

  advance(): ScannedChunk | null {
    const last = this.current;
    if (this.#next < this.#page.length) this.#show();
    else if (last) this.#load(last.row, last.chunk);
    return this.current;
  }

  #load(row: number, chunk: number): void {
    this.#page = this.#statement.all(row, chunk, this.#to, PAGE_ROWS);
    this.#next = 0;
    let scores = '';
    for (const tuple of this.#page) scores += tuple[5];
    this.#pairs = scorePairs(this.#bytes.subarray(0, this.#bytes.write(scores, 'hex')));
    this.#used = 0;
    this.#show();
  }

  #show(): void {
    const tuple = this.#page[this.#next++];
    if (!tuple) {
      this.current = null;
      return;
    }
    const [row, chunk, part, frames, unscored, scores, reason] = tuple;
    checkChunk(row, { chunk, frames, unscored, reason, scoreBytes: scores.length / 2 });
    const end = this.#used + scores.length / HEX_PER_SCORE;
    const pairs = this.#pairs.subarray(this.#used, end);
    this.#used = end;
    this.current = { row, chunk, part, frames, unscored, pairs, reason };
  }
}

interface StoredChunk {
  chunk: number;
  frames: number;
  unscored: number;
  reason: Reason | null;
  scoreBytes: number;
}

/** Throws AppFailure for a chunk row that this program can't have written. */
export function checkChunk(row: number, { chunk, frames, unscored, reason, scoreBytes }: StoredChunk): void {
  if (
    !isFrameMask(frames) ||
    (unscored & ~frames) !== 0 ||
    (reason === null) !== (unscored === 0) ||
    scoreBytes !== BYTES_PER_FRAME * framesIn(frames & ~unscored).length
  ) {
    throw damaged(`What run.db says of chunk ${chunk} of row ${row} does not fit together.`);
  }
}

/** Throws AppFailure for scores that a head can't have given. The comparison also fails for NaN. */
function checkScores(pairs: ScorePairs): ScorePairs {
  for (const score of pairs) {
    if (!(score >= 0 && score <= 1)) throw damaged('run.db holds scores that are none.');
  }
  return pairs;
}

/** The `scores` of a chunk row as numbers. */
export function scorePairs(blob: Buffer | null): ScorePairs {
  if (blob === null) return NO_PAIRS;
  if (blob.byteLength % BYTES_PER_FRAME !== 0) throw damaged('run.db holds scores that are cut off.');
  if (blob.byteOffset % 4 !== 0) return checkScores(new Float32Array(new Uint8Array(blob).buffer));
  return checkScores(new Float32Array(blob.buffer, blob.byteOffset, blob.byteLength / 4));
}

/** Numbers of the frames that `pairs` belongs to. */
export function scoredFrames(chunk: Pick<ChunkScores, 'frames' | 'unscored'>): readonly number[] {
  return framesIn(chunk.frames & ~chunk.unscored);
}

/** Returns a function that sums up what is stored of one record's chunks. */
export function summingUp(db: Database.Database): (record: CountedRecord) => SequenceSummary {
  const plan = readPlan(db);
  /** Created on demand: it reads, and what it reads may be damaged. */
  let cursor: ChunkCursor | undefined;
  return ({ row, length, nChunks, fault }) => {
    const tally = new SequenceTally(length, plan);
    cursor ??= new ChunkCursor(db, row, row);
    cursor.only(row);
    for (let chunk = cursor.current; chunk; chunk = cursor.advance()) {
      if (chunk.chunk >= Math.min(nChunks, chunkCount(length, plan.chunkLength)))
        throw damaged(`run.db holds too many chunks of row ${row}.`);
      tally.add(chunk);
    }
    return tally.summary(fault);
  };
}

interface SummarisedRecord {
  record: ScannedRecord;
  summary: SequenceSummary;
}

export interface SummaryOptions {
  visit?: ((record: ScannedRecord, chunk: ScannedChunk) => void) | undefined;
  /** Only the rows between these two, both included. */
  from?: number;
  to?: number;
}

/**
 * Iterates over the chunk rows and the records of the run together, in order: yields each record with the
 * summary of its chunks, after `visit` has seen every one of them. Throws if the chunks of a record differ
 * from those that prepare found.
 */
export function* recordSummaries(
  db: Database.Database,
  { visit, from, to }: SummaryOptions = {},
): Generator<SummarisedRecord, undefined> {
  const plan = readPlan(db);
  const cursor = new ChunkCursor(db, from, to);
  for (const record of scanRecords(db, from, to)) {
    const tally = new SequenceTally(record.length, plan);
    for (let chunk = cursor.current; chunk?.row === record.row; chunk = cursor.current) {
      if (chunk.chunk >= record.nChunks) throw chunkAmiss(record, chunk);
      visit?.(record, chunk);
      tally.add(chunk);
      cursor.advance();
    }
    const summary = tally.summary(record.fault);
    if (summary.nFrames !== record.nFrames) throw framesAmiss(record, summary);
    yield { record, summary };
  }
  if (cursor.current) throw new Error(`Chunk row of an unknown record ${cursor.current.row}`);
}

function framesAmiss({ row, nFrames }: CountedRecord, summary: SequenceSummary): AppFailure {
  const cause = `Row ${row} has ${summary.nFrames} frames in its results, ${nFrames} in the input.`;
  return appFailure('internal', cause);
}

function chunkAmiss({ row, nChunks }: CountedRecord, { chunk }: ScannedChunk): AppFailure {
  const cause = `Row ${row} has a chunk ${chunk + 1} in its results, ${nChunks} in the input.`;
  return appFailure('internal', cause);
}
