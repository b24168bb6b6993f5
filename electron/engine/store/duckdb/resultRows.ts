import type { DuckDBAppender, DuckDBDataChunk, DuckDBType, DuckDBValue } from '@duckdb/node-api';
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
import { chunkBounds } from '../../results/chunkCall.ts';
import { geneticCodeHint, evidenceOf } from '../../results/sequenceRemarks.ts';
import type { SequenceSummary } from '../../results/sequenceTally.ts';
import { nameText } from '../sqlite/results/tables/tableRows.ts';
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

/** Texts with only a few possible values are appended by number, which is five times as fast. */
const STAGED = [
  ['row', 'INTEGER'],
  ['seq_name', 'VARCHAR'],
  ['header', 'VARCHAR'],
  ['input', 'INTEGER'],
  ['length', 'BIGINT'],
  ['too_short', 'BOOLEAN'],
  ['virus_score', 'FLOAT'],
  ['prediction', 'INTEGER'],
  ['reason', 'INTEGER'],
  ['evidence', 'INTEGER'],
  ['n_chunks', 'INTEGER'],
  ['n_chunks_scored', 'INTEGER'],
  ['n_chunks_viral', 'INTEGER'],
  ['n_bases_scored', 'BIGINT'],
  ['n_bases_viral', 'BIGINT'],
  ['best_chunk_start', 'BIGINT'],
  ['best_chunk_end', 'BIGINT'],
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
const ROWS_PER_CHUNK = 2048;

/**
 * The columns of results.parquet, in order, from a table of rows that `ResultRows` appends; plus `more` of
 * the table.
 */
export function resultColumns(
  table: string,
  { inputs, model, isPaired, trusted }: RunLabels,
  more: readonly 'settled'[] = [],
): string {
  const named = (names: readonly string[], column: string): string =>
    `[${names.map(quoted).join(', ')}][${column} + 1] AS ${column}`;
  return `SELECT row, seq_name, header, ${named(inputs, 'input')}, length, too_short, virus_score,
    ${named(predictionSchema.options, 'prediction')}, ${named(reasonSchema.options, 'reason')},
    ${named(evidenceSchema.options, 'evidence')}, n_chunks, n_chunks_scored, n_chunks_viral,
    (n_chunks_viral::DOUBLE / nullif(n_chunks_scored, 0))::FLOAT AS viral_fraction,
    n_bases_scored, n_bases_viral,
    best_chunk_start, best_chunk_end, ${named(FRAME_NAMES, 'best_frame')}, best_score, second_score, n_frames_scored,
    terminal_repeat, terminal_repeat_length, n_chunks_lost, n_chunks_lost_to_tag, n_chunks_lost_to_tga, genetic_code_hint,
    ${isPaired ? `pair_score, ${named(predictionSchema.options, 'pair_prediction')},` : ''}
    ${trusted ? 'p_value,' : ''}
    ${[`${quoted(model)} AS model`, ...more].join(', ')} FROM ${table}`;
}

/** Appends sequences with their results to a table of DuckDB. */
export class ResultRows {
  readonly #appender: DuckDBAppender;
  readonly #chunkLength: number;
  /**
   * One chunk is reused: V8 does not know the memory of a chunk, and would let that of hundreds accumulate.
   */
  readonly #chunk: DuckDBDataChunk;
  readonly #columns: DuckDBValue[][] = STAGED.map(() => []);

  private constructor(
    appender: DuckDBAppender,
    chunkLength: number,
    newChunk: (types: readonly DuckDBType[]) => DuckDBDataChunk,
  ) {
    this.#appender = appender;
    this.#chunkLength = chunkLength;
    this.#chunk = newChunk(STAGED.map((_, i) => appender.columnType(i)));
  }

  static async create({ connection }: DuckDb, table: string): Promise<void> {
    await connection.run(
      `CREATE OR REPLACE TABLE ${table} (${STAGED.map((column) => column.join(' ')).join(', ')})`,
    );
  }

  static async open({ connection }: DuckDb, table: string, chunkLength: number): Promise<ResultRows> {
    const { DuckDBDataChunk } = await import('@duckdb/node-api');
    return new ResultRows(await connection.createAppender(table), chunkLength, (types) =>
      DuckDBDataChunk.create(types),
    );
  }

  /** `pair`: the call of a read and its mate, which is unknown until both have results. */
  add(
    record: DescribedRecord,
    summary: SequenceSummary,
    {
      pValue = null,
      pair = null,
      settled = true,
    }: Partial<Pick<SequenceResult, 'pValue' | 'pair' | 'settled'>> = {},
  ): void {
    const { row, name, header, input, length, nChunks } = record;
    const { bestChunk, bestFrame } = summary;
    const best = bestChunk === null ? null : chunkBounds(length, this.#chunkLength, bestChunk);
    const evidence = evidenceOf({ ...summary, length, chunkLength: this.#chunkLength });
    const values = [
      row,
      nameText(name),
      header ?? name,
      input,
      BigInt(length),
      isTooShort(length),
      summary.virusScore,
      PREDICTION[summary.prediction],
      REASON[summary.reason],
      evidence && EVIDENCE[evidence],
      nChunks,
      summary.nChunksScored,
      summary.nChunksViral,
      BigInt(summary.nBasesScored),
      BigInt(summary.nBasesViral),
      best && BigInt(best.start + 1),
      best && BigInt(best.end),
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
      pValue,
      settled,
    ];
    for (let i = 0; i < values.length; i++) this.#columns[i]!.push(values[i]!);
    if (this.#columns[0]!.length === ROWS_PER_CHUNK) this.#flush();
  }

  finish(): void {
    this.#flush();
    this.#appender.closeSync();
  }

  #flush(): void {
    if (this.#columns[0]!.length === 0) return;
    this.#chunk.reset();
    this.#chunk.setColumns(this.#columns);
    this.#appender.appendDataChunk(this.#chunk);
    for (const column of this.#columns) column.length = 0;
  }
}

function numbers<Name extends string>(names: readonly Name[]): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, i) => [name, i])) as Record<Name, number>;
}
const PREDICTION: Readonly<Record<Prediction, number>> = numbers(predictionSchema.options);
const REASON: Readonly<Record<Reason, number>> = numbers(reasonSchema.options);
const EVIDENCE: Readonly<Record<Evidence, number>> = numbers(evidenceSchema.options);
