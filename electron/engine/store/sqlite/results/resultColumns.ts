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

/** Both included. */
export interface RowRange {
  from: number;
  to: number;
}
const ALL_ROWS: RowRange = { from: 0, to: Number.MAX_SAFE_INTEGER };

export interface ColumnReader {
  readonly columns: ResultColumns;
  /** Reads on for about so long; answers whether all is read. */
  read: (milliseconds: number) => boolean;
}

/** Of the sequences in a range. */
export function columnReader(db: Database.Database, { from, to } = ALL_ROWS): ColumnReader {
  const count = db
    .prepare<[number, number], number>('SELECT count(*) FROM sequence WHERE row BETWEEN ? AND ?')
    .pluck()
    .get(from, to)!;
  const columns = newColumns(count);
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
        const last = filled === 0 ? from - 1 : columns.row[filled - 1]!;
        const rows = next.all(last, Math.min(ROWS_PER_READ, count - filled));
        if (rows.length === 0) throw new Error('A sequence has no record.');
        fill(rows);
      }
      return filled === count;
    },
  };
}

export function newColumns(count: number) {
  return {
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
  } satisfies ResultColumns;
}

/** The columns with what stands in the database now for the sequences in some ranges. */
export function withRangesReadAnew(
  db: Database.Database,
  columns: ResultColumns,
  ranges: readonly RowRange[],
): ResultColumns {
  const pieces: { of: ResultColumns; begin: number; end: number }[] = [];
  let kept = 0;
  for (const range of disjoint(ranges)) {
    const fresh = columnReader(db, range);
    fresh.read(Infinity);
    pieces.push({ of: columns, begin: kept, end: indexOfRow(columns, range.from) });
    pieces.push({ of: fresh.columns, begin: 0, end: fresh.columns.count });
    kept = indexOfRow(columns, range.to + 1);
  }
  pieces.push({ of: columns, begin: kept, end: columns.count });
  const joined = newColumns(pieces.reduce((sum, { begin, end }) => sum + end - begin, 0));
  let at = 0;
  for (const { of, begin, end } of pieces) {
    for (const name of Object.keys(joined) as (keyof ResultColumns)[])
      if (name !== 'count') joined[name].set(of[name].subarray(begin, end), at);
    at += end - begin;
  }
  return joined;
}

/** Index of the first sequence whose number is no smaller. */
function indexOfRow({ row, count }: ResultColumns, wanted: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** In order, and those that touch each other as one. */
function disjoint(ranges: readonly RowRange[]): RowRange[] {
  const joined: RowRange[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else if (from <= to) joined.push({ from, to });
  }
  return joined;
}
