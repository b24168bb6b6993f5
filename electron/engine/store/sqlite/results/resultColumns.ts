import type Database from 'better-sqlite3';
import type { Prediction } from '../../../../contract/results.ts';

/** In the order in which a table sorted by call shows them. */
export const PREDICTIONS: readonly Prediction[] = ['failed', 'not_scored', 'others', 'virus'];

const ROWS_PER_READ = 16_384;
/** Several values go into one number: each that SQLite hands over costs as much as finding it. */
const INPUTS = 2 ** 20;
const CALLS = 16;
const CHUNKS = 2 ** 26;

type StoredRow = [
  rowAndInput: number,
  virusScore: number | null,
  lengthAndCall: number,
  chunkCalls: number,
  nChunks: number,
];

/** All that sequences are filtered, sorted and counted by, but their names: 34 bytes each. Index i of every column is one of them. */
export interface ResultColumns {
  readonly count: number;
  /** Number of the record; ascends. */
  readonly row: Uint32Array;
  /** Index into `PREDICTIONS`. */
  readonly prediction: Uint8Array;
  /** NaN without a score. */
  readonly virusScore: Float32Array;
  /** As in EVIDENCE_RANK; 0 without. */
  readonly evidence: Uint8Array;
  readonly nChunksScored: Uint32Array;
  readonly nChunksViral: Uint32Array;
  readonly input: Uint32Array;
  readonly length: Float64Array;
  readonly nChunks: Uint32Array;
}

export interface ColumnReader {
  readonly columns: ResultColumns;
  /** Reads on for about so long; answers whether all is read. */
  read: (milliseconds: number) => boolean;
}

export function columnReader(db: Database.Database): ColumnReader {
  const count = db.prepare<[], number>('SELECT count(*) FROM sequence').pluck().get() ?? 0;
  const columns = {
    count,
    row: new Uint32Array(count),
    prediction: new Uint8Array(count),
    virusScore: new Float32Array(count),
    evidence: new Uint8Array(count),
    nChunksScored: new Uint32Array(count),
    nChunksViral: new Uint32Array(count),
    input: new Uint32Array(count),
    length: new Float64Array(count),
    nChunks: new Uint32Array(count),
  };
  const codes = PREDICTIONS.map((name, code) => `WHEN '${name}' THEN ${4 * code}`).join(' ');
  const next = db
    .prepare<[number, number], StoredRow>(
      `SELECT s.row * ${INPUTS} + r.input, s.virus_score, r.length * ${CALLS} + CASE s.prediction ${codes} END + coalesce(s.evidence, 0),
         s.n_chunks_scored * ${CHUNKS} + s.n_chunks_viral, r.n_chunks
       FROM sequence s JOIN record r ON r.row = s.row WHERE s.row > ? ORDER BY s.row LIMIT ?`,
    )
    .raw();
  let filled = 0;
  function fill(rows: readonly StoredRow[]): void {
    for (const [rowAndInput, virusScore, lengthAndCall, chunkCalls, nChunks] of rows) {
      columns.row[filled] = rowAndInput / INPUTS;
      columns.input[filled] = rowAndInput % INPUTS;
      columns.virusScore[filled] = virusScore ?? NaN;
      columns.length[filled] = Math.floor(lengthAndCall / CALLS);
      columns.prediction[filled] = (lengthAndCall % CALLS) >> 2;
      columns.evidence[filled] = lengthAndCall % 4;
      columns.nChunksScored[filled] = chunkCalls / CHUNKS;
      columns.nChunksViral[filled] = chunkCalls % CHUNKS;
      columns.nChunks[filled] = nChunks;
      filled += 1;
    }
  }
  return {
    columns,
    read: (milliseconds) => {
      const until = performance.now() + milliseconds;
      while (filled < count && performance.now() < until) {
        const rows = next.all(
          filled === 0 ? -1 : columns.row[filled - 1]!,
          Math.min(ROWS_PER_READ, count - filled),
        );
        if (rows.length === 0) throw new Error('A sequence has no record.');
        fill(rows);
      }
      return filled === count;
    },
  };
}
