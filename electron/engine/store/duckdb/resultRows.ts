import { pValue } from '../../results/calibration.ts';
import type { DuckDBVector } from '@duckdb/node-api';
import {
  evidenceSchema,
  FRAME_NAMES,
  predictionSchema,
  reasonSchema,
  type Evidence,
  type Prediction,
  type Reason,
  type SequenceResult,
} from '../../../contract/results.ts';
import type { Trusted } from '../../../contract/plan.ts';
import { isTooShort } from '../../../contract/evidence.ts';
import { chunkBounds, type SequenceSummary } from '../../results/sequenceTally.ts';
import { geneticCodeHint, evidenceOf } from '../../results/sequenceRemarks.ts';
import type { DescribedRecord } from '../sqlite/results/derive/recordScan.ts';
import { quoted, type DuckDb } from './duckdb.ts';

/**
 * What every row contains about the run: the labels of its inputs by number, and the model as tables name it.
 */
export interface RunLabels {
  readonly inputs: readonly string[];
  readonly model: string;
  readonly chunkLength: number;
  /** For each input, the rows of the mates if its file is one of a read pair. */
  readonly mates: readonly ({ firstRow: number; records: number } | null)[];
  readonly isPaired: boolean;
  /** The scores for p-values; null if there are none. */
  readonly trusted: Trusted | null;
}

/** A sequence with its results, as DuckDB reads it. */
export interface ResultRow extends Partial<Pick<SequenceResult, 'settled'>> {
  record: DescribedRecord;
  summary: SequenceSummary;
  /** The call of a read and its mate, which is unknown until both have results. */
  pair?: SequenceResult['pair'];
}

type Labels = Pick<RunLabels, 'chunkLength' | 'trusted'>;

const FUNCTION = 'result_rows';
/** The rows that `readingResultRows` gives, in SQL. */
export const ROWS = `${FUNCTION}()`;

/**
 * The columns of these rows. Texts with only a few possible values come as their numbers, which is five times as fast, and whole numbers
 * beyond 32 bits as DOUBLE, which holds each of them exactly and needs no BigInt.
 */
const COLUMNS = [
  ['row', 'INTEGER'],
  ['seq_name', 'VARCHAR'],
  ['header', 'VARCHAR'],
  ['input', 'INTEGER'],
  ['length', 'DOUBLE'],
  ['too_short', 'BOOLEAN'],
  ['virus_score', 'FLOAT'],
  ['prediction', 'INTEGER'],
  ['reason', 'INTEGER'],
  ['evidence', 'INTEGER'],
  ['n_chunks', 'INTEGER'],
  ['n_chunks_scored', 'INTEGER'],
  ['n_chunks_viral', 'INTEGER'],
  ['n_bases_scored', 'DOUBLE'],
  ['n_bases_viral', 'DOUBLE'],
  ['best_chunk_start', 'DOUBLE'],
  ['best_chunk_end', 'DOUBLE'],
  ['best_frame', 'INTEGER'],
  ['best_score', 'FLOAT'],
  ['second_score', 'FLOAT'],
  ['n_frames_scored', 'INTEGER'],
  ['terminal_repeat', 'VARCHAR'],
  ['terminal_repeat_length', 'INTEGER'],
  ['n_chunks_lost', 'INTEGER'],
  ['n_chunks_lost_to_tag', 'INTEGER'],
  ['n_chunks_lost_to_tga', 'INTEGER'],
  ['genetic_code_hint', 'INTEGER'],
  ['pair_score', 'FLOAT'],
  ['pair_prediction', 'INTEGER'],
  ['p_value', 'FLOAT'],
  ['settled', 'BOOLEAN'],
] as const;

/** The size of DuckDB's own vectors. */
const MOST_ROWS = 2048;
/**
 * DuckDB gets its next rows after about this many chunks of sequences, so that the thread hears a request to end in between. A fixed
 * number, since the bytes of a file depend on it.
 */
const MOST_CHUNKS = 20_000;

/** The columns of results.parquet, in order, from a table with the columns of `ROWS`; plus `more` of the table. */
export function resultColumns(
  table: string,
  { inputs, model, isPaired, trusted }: RunLabels,
  more: readonly 'settled'[] = [],
): string {
  const named = (names: readonly string[], column: string): string =>
    `[${names.map(quoted).join(', ')}][${column} + 1] AS ${column}`;
  return `SELECT row, seq_name, header, ${named(inputs, 'input')}, length::BIGINT AS length, too_short, virus_score,
    ${named(predictionSchema.options, 'prediction')}, ${named(reasonSchema.options, 'reason')},
    ${named(evidenceSchema.options, 'evidence')}, n_chunks, n_chunks_scored, n_chunks_viral,
    (n_chunks_viral::DOUBLE / nullif(n_chunks_scored, 0))::FLOAT AS viral_fraction,
    n_bases_scored::BIGINT AS n_bases_scored, n_bases_viral::BIGINT AS n_bases_viral,
    best_chunk_start::BIGINT AS best_chunk_start, best_chunk_end::BIGINT AS best_chunk_end, ${named(FRAME_NAMES, 'best_frame')}, best_score, second_score, n_frames_scored,
    terminal_repeat, terminal_repeat_length, n_chunks_lost, n_chunks_lost_to_tag, n_chunks_lost_to_tga, genetic_code_hint,
    ${isPaired ? `pair_score, ${named(predictionSchema.options, 'pair_prediction')},` : ''}
    ${trusted ? 'p_value,' : ''}
    ${[`${quoted(model)} AS model`, ...more].join(', ')} FROM ${table}`;
}

/**
 * Returns a function that runs SQL in which `ROWS` are the given rows. DuckDB asks for them as it needs them, so that neither side holds
 * more than a few thousand. The promise rejects with what the rows threw.
 */
export async function readingResultRows(
  { connection, run }: DuckDb,
  labels: Labels,
): Promise<(sql: string, rows: Iterable<ResultRow>) => Promise<void>> {
  const { BOOLEAN, DOUBLE, DuckDBTableFunction, FLOAT, INTEGER, VARCHAR } = await import('@duckdb/node-api');
  const types = { BOOLEAN, DOUBLE, FLOAT, INTEGER, VARCHAR };
  let left: Iterator<ResultRow> = [].values();
  let failure: unknown = null;
  const table = DuckDBTableFunction.create({
    name: FUNCTION,
    bindFunction: (info) => {
      for (const [name, type] of COLUMNS) info.addResultColumn(name, types[type]);
    },
    initFunction: (info) => info.setMaxThreads(1),
    mainFunction: (info, chunk) => {
      try {
        chunk.rowCount = MOST_ROWS;
        const vectors = COLUMNS.map((_, i) => chunk.getColumnVector(i));
        const count = fill(vectors, left, labels);
        if (count > 0) for (const vector of vectors) vector.flush();
        chunk.rowCount = count;
      } catch (error) {
        failure = error;
        info.setError(String(error));
      }
    },
  });
  connection.registerTableFunction(table);
  return async (sql, rows) => {
    left = rows[Symbol.iterator]();
    failure = null;
    try {
      await run(sql);
    } catch (error) {
      throw failure ?? error;
    }
  };
}

/** Writes the next rows into the vectors, and returns their number: none after the last one. */
function fill(vectors: readonly DuckDBVector[], rows: Iterator<ResultRow>, labels: Labels): number {
  let count = 0;
  for (let chunks = 0; count < MOST_ROWS && chunks < MOST_CHUNKS;) {
    const next = rows.next();
    if (next.done === true) break;
    const values = valuesOf(next.value, labels);
    for (let i = 0; i < values.length; i++) vectors[i]!.setItem(count, values[i]!);
    count++;
    chunks += next.value.record.nChunks;
  }
  return count;
}

/** In the order of COLUMNS. */
function valuesOf(
  { record, summary, pair = null, settled = true }: ResultRow,
  { chunkLength, trusted }: Labels,
) {
  const { row, name, header, input, length, nChunks } = record;
  const { bestChunk, bestFrame } = summary;
  const best = bestChunk === null ? null : chunkBounds(length, chunkLength, bestChunk);
  const evidence = evidenceOf({ ...summary, length, chunkLength });
  return [
    row,
    name,
    header ?? name,
    input,
    length,
    isTooShort(length),
    summary.virusScore,
    PREDICTION[summary.prediction],
    REASON[summary.reason],
    evidence && EVIDENCE[evidence],
    nChunks,
    summary.nChunksScored,
    summary.nChunksViral,
    summary.nBasesScored,
    summary.nBasesViral,
    best && best.start + 1,
    best && best.end,
    bestFrame,
    summary.bestScore,
    summary.secondScore,
    summary.nFramesScored,
    record.terminalRepeat,
    record.terminalRepeatLength,
    record.nLost,
    record.nLostToTag,
    record.nLostToTga,
    geneticCodeHint(record),
    pair?.score ?? null,
    pair && PREDICTION[pair.prediction],
    pValue(trusted, length, summary.virusScore),
    settled,
  ];
}

function numbers<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, i) => [name, i])) as Record<Name, number>;
}
const PREDICTION: Readonly<Record<Prediction, number>> = numbers(predictionSchema.options);
const REASON: Readonly<Record<Reason, number>> = numbers(reasonSchema.options);
const EVIDENCE: Readonly<Record<Evidence, number>> = numbers(evidenceSchema.options);
