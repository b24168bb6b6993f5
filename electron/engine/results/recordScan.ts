import type Database from 'better-sqlite3';
import type { Reason } from '../../contract/results.ts';
import { FRAMES_IN_MASK, type ScorePairs } from './chunkCall.ts';
import type { ChunkScores } from './sequenceTally.ts';

const PAGE_ROWS = 1024;
const NO_PAIRS = new Float32Array(0);

export interface ScannedRecord {
  row: number;
  input: number;
  length: number;
  nChunks: number;
  nFrames: number;
  fault: Reason | null;
  name: string;
}

/** A chunk row, with the number of the shard it came from. */
export interface ScannedChunk extends ChunkScores {
  row: number;
  shard: number;
}

/** All records in order, a page in memory at a time, so that the connection stays free to write in between. */
export function* scanRecords(db: Database.Database): Generator<ScannedRecord> {
  const page = db.prepare<[number, number], ScannedRecord>(
    `SELECT row, input, length, n_chunks AS nChunks, n_frames AS nFrames, reason AS fault, name
     FROM record WHERE row > ? ORDER BY row LIMIT ?`,
  );
  for (let last = -1; ;) {
    const records = page.all(last, PAGE_ROWS);
    if (records.length === 0) return;
    yield* records;
    last = records[records.length - 1]!.row;
  }
}

type ChunkTuple = [number, number, number, number, number, Buffer | null, Reason | null];

/** Walks over the chunk rows in order, a page in memory at a time. */
export class ChunkCursor {
  /** The chunk it stands at; null behind the last one. */
  current: ScannedChunk | null = null;
  readonly #statement: Database.Statement<[number, number, number], ChunkTuple>;
  #page: ChunkTuple[] = [];
  #next = 0;

  constructor(db: Database.Database) {
    this.#statement = db
      .prepare<[number, number, number], ChunkTuple>(
        `SELECT row, chunk, shard, frames, unscored, scores, reason FROM chunk
         WHERE (row, chunk) > (?, ?) ORDER BY row, chunk LIMIT ?`,
      )
      .raw();
    this.#load(-1, -1);
  }

  advance(): void {
    const last = this.current;
    if (this.#next < this.#page.length) this.#show();
    else if (last) this.#load(last.row, last.chunk);
  }

  #load(row: number, chunk: number): void {
    this.#page = this.#statement.all(row, chunk, PAGE_ROWS);
    this.#next = 0;
    this.#show();
  }

  #show(): void {
    const tuple = this.#page[this.#next++];
    this.current = tuple ? toChunk(tuple) : null;
  }
}

function toChunk([row, chunk, shard, frames, unscored, scores, reason]: ChunkTuple): ScannedChunk {
  return { row, chunk, shard, frames, unscored, pairs: scorePairs(scores), reason };
}

/** The `scores` of a chunk row as numbers. */
export function scorePairs(blob: Buffer | null): ScorePairs {
  if (blob === null) return NO_PAIRS;
  if (blob.byteOffset % 4 === 0) return new Float32Array(blob.buffer, blob.byteOffset, blob.byteLength / 4);
  return new Float32Array(new Uint8Array(blob).buffer);
}

/** Numbers of the frames that `pairs` belongs to. */
export function scoredFrames(chunk: Pick<ChunkScores, 'frames' | 'unscored'>): readonly number[] {
  return FRAMES_IN_MASK[chunk.frames & ~chunk.unscored]!;
}
