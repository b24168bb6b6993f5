import type { DuckDBVector } from '@duckdb/node-api';
import { z } from 'zod';
import {
  columnName,
  columnsOf,
  SEQUENCE_FIELDS,
  sequenceColumn,
  type ColumnKey,
  type SequenceResult,
} from '../../../contract/columns.ts';
import type { RunLabels } from '../../results/sequenceRow.ts';
import { type DuckDb } from './duckdb.ts';
import { quoted } from './quoted.ts';

const FUNCTION = 'result_rows';
/** The rows that `readingResultRows` gives, in SQL. */
export const ROWS = `${FUNCTION}()`;

const TYPES = {
  text: 'VARCHAR',
  integer: 'INTEGER',
  score: 'FLOAT',
  share: 'FLOAT',
  flag: 'BOOLEAN',
} as const;

/** The type of a column in DuckDB and in results.parquet. */
export function typeOf(key: ColumnKey): string {
  const { kind, isWide } = sequenceColumn(key);
  return isWide ? 'BIGINT' : TYPES[kind];
}

/** The texts of a column that has only a few. */
function choicesOf(key: ColumnKey): readonly string[] | null {
  const { schema } = sequenceColumn(key);
  const inner = schema instanceof z.ZodNullable ? schema.unwrap() : schema;
  return inner instanceof z.ZodEnum ? inner.options.map(String) : null;
}

/**
 * The columns of these rows. Texts with only a few possible values come as their numbers, which is five times as fast, and whole numbers
 * beyond 32 bits as DOUBLE, which holds each of them exactly and needs no BigInt.
 */
const COLUMNS = SEQUENCE_FIELDS.map((key) => {
  const choices = choicesOf(key);
  const { kind, isWide } = sequenceColumn(key);
  return {
    key,
    type: choices || key === 'input' ? ('INTEGER' as const) : isWide ? ('DOUBLE' as const) : TYPES[kind],
    numberOf: choices && new Map(choices.map((choice, number) => [choice, number])),
  };
});

/** The size of DuckDB's own vectors. */
const MOST_ROWS = 2048;
/**
 * DuckDB gets its next rows after about this many chunks of sequences, so that the thread hears a request to end in between. A fixed
 * number, since the bytes of a file depend on it.
 */
const MOST_CHUNKS = 20_000;

/** The columns of results.parquet, in order, from a table with the columns of `ROWS`; plus `more` of the table. */
export function resultColumns(table: string, labels: RunLabels, more: readonly 'settled'[] = []): string {
  const columns = columnsOf('results', labels).map((key) => {
    const name = columnName(key);
    const choices = key === 'input' ? labels.inputs : choicesOf(key);
    if (key === 'model') return `${quoted(labels.model)} AS ${name}`;
    if (choices) return `[${choices.map(quoted).join(', ')}][${name} + 1] AS ${name}`;
    return `${name}::${typeOf(key)} AS ${name}`;
  });
  return `SELECT ${[...columns, ...more].join(', ')} FROM ${table}`;
}

/**
 * Returns a function that runs SQL in which `ROWS` are the given rows. DuckDB asks for them as it needs them, so that neither side holds
 * more than a few thousand. The promise rejects with what the rows threw.
 */
export async function readingResultRows({
  connection,
  run,
}: DuckDb): Promise<(sql: string, rows: Iterable<SequenceResult>) => Promise<void>> {
  const { BOOLEAN, DOUBLE, DuckDBTableFunction, FLOAT, INTEGER, VARCHAR } = await import('@duckdb/node-api');
  const types = { BOOLEAN, DOUBLE, FLOAT, INTEGER, VARCHAR };
  let left: Iterator<SequenceResult> = [].values();
  let failure: unknown = null;
  const table = DuckDBTableFunction.create({
    name: FUNCTION,
    bindFunction: (info) => {
      for (const { key, type } of COLUMNS) info.addResultColumn(columnName(key), types[type]);
    },
    initFunction: (info) => info.setMaxThreads(1),
    mainFunction: (info, chunk) => {
      try {
        chunk.rowCount = MOST_ROWS;
        const vectors = COLUMNS.map((_, i) => chunk.getColumnVector(i));
        const count = fill(vectors, left);
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
function fill(vectors: readonly DuckDBVector[], rows: Iterator<SequenceResult>): number {
  let count = 0;
  for (let chunks = 0; count < MOST_ROWS && chunks < MOST_CHUNKS;) {
    const next = rows.next();
    if (next.done === true) break;
    const row = next.value;
    for (let i = 0; i < COLUMNS.length; i++) {
      const { key, numberOf } = COLUMNS[i]!;
      const value = row[key];
      vectors[i]!.setItem(count, numberOf && value !== null ? numberOf.get(value as string)! : value);
    }
    count++;
    chunks += row.nChunks;
  }
  return count;
}
