import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBMaterializedResult, DuckDBValue } from '@duckdb/node-api';
import { type AppFailure, appFailure } from '../../../contract/errors.ts';
import type { QueryTable } from './queryProcess.ts';
import { identifier } from './quoted.ts';

/** Each takes memory of its own: with seven, a window about ten million sequences takes 390 MB. */
const MOST_THREADS = 7;
const MEMORY = '1GB';
/** The limit on temporary data that sorting may write to disk. */
const SPILL = '20GB';

/** A connection to a DuckDB; its methods reject with AppFailure. */
export interface Connected {
  readonly connection: DuckDBConnection;
  run: (sql: string) => Promise<DuckDBMaterializedResult>;
  /** The rows of the result, with their values by the names of its columns. */
  rows: <Row extends object>(sql: string) => Promise<Row[]>;
  /** The values of the result's first column, some at a time. */
  values: (sql: string) => AsyncGenerator<readonly DuckDBValue[]>;
  close: () => void;
}

/** An in-memory DuckDB with its first connection. */
export interface DuckDb extends Connected {
  /** Another connection, which has temporary tables of its own. */
  connect: () => Promise<Connected>;
}

/**
 * Loads DuckDB on first use, since it takes 50 ms and 20 MB, and most store threads never need it. Extensions
 * are neither downloaded nor loaded; data that does not fit into its memory goes to a temporary folder, which
 * `close` removes.
 */
export async function openDuckDb(limits: { memory?: string; threads?: number } = {}): Promise<DuckDb> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  // DuckDB creates the folder when it needs it.
  const spillFolder = join(tmpdir(), `virnucpro-duckdb-${randomUUID()}`);
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(limits.threads ?? Math.min(MOST_THREADS, availableParallelism())),
    memory_limit: limits.memory ?? MEMORY,
    temp_directory: spillFolder,
    max_temp_directory_size: SPILL,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const own = connected(await instance.connect());
  return {
    ...own,
    connect: async () => connected(await instance.connect()),
    close: () => {
      own.close();
      instance.closeSync();
      rmSync(spillFolder, { recursive: true, force: true });
    },
  };
}

function connected(connection: DuckDBConnection): Connected {
  const run = (sql: string): Promise<DuckDBMaterializedResult> =>
    connection.run(sql).catch((error: unknown) => {
      throw failureOf(error);
    });
  return {
    connection,
    run,
    rows: async <Row extends object>(sql: string): Promise<Row[]> => rowsOf(await run(sql)) as Row[],
    async *values(sql) {
      try {
        // This does not count texts: with 1 MB, the default, 90 MB of a workbook's rows wait.
        await connection.run(`SET streaming_buffer_size = '50KB'`);
        const result = await connection.stream(sql);
        for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk())
          yield chunk.getColumnValues(0);
      } catch (error) {
        throw failureOf(error);
      }
    },
    close: () => connection.closeSync(),
  };
}

/** Adds a table that only this connection sees. */
export async function addTable(
  { run, connection }: Connected,
  { name, columns, rows }: QueryTable,
): Promise<void> {
  const types = columns.map((column) => `${identifier(column.name)} ${column.type}`);
  await run(`CREATE OR REPLACE TEMP TABLE ${identifier(name)} (${types.join(', ')})`);
  const appender = await connection.createAppender(name);
  for (const row of rows) {
    for (const [i, { type }] of columns.entries()) {
      const cell = row[i] ?? null;
      if (cell === null) appender.appendNull();
      else if (type === 'VARCHAR') appender.appendVarchar(String(cell));
      else if (type === 'BOOLEAN') appender.appendBoolean(cell === true);
      else if (type === 'INTEGER') appender.appendInteger(Number(cell));
      else appender.appendDouble(Number(cell));
    }
    appender.endRow();
  }
  appender.closeSync();
}

/** Column by column, which takes less time than DuckDB's own `getRowObjects`. */
function rowsOf(result: DuckDBMaterializedResult): object[] {
  const names = result.columnNames();
  const rows: Record<string, DuckDBValue>[] = [];
  for (let i = 0; i < result.chunkCount; i++) {
    const chunk = result.getChunk(i);
    const columns = names.map((_, column) => chunk.getColumnValues(column));
    for (let row = 0; row < chunk.rowCount; row++)
      rows.push(Object.fromEntries(names.map((name, column) => [name, columns[column]![row]!])));
  }
  return rows;
}

/** Explains a failed query of our own: its SQL is right, so the file, the memory or the disk is the cause. */
function failureOf(reason: unknown): AppFailure {
  const detail = reason instanceof Error ? reason.message : String(reason);
  if (/no space left/i.test(detail) || detail.includes('max_temp_directory_size'))
    return appFailure('disk_full', `Sorting needs more room in ${tmpdir()} than there is.`, { detail });
  if (detail.startsWith('Out of Memory'))
    return appFailure('internal', 'The results need more memory than they may take.', { detail });
  if (/^(Binder|Parser|Catalog|INTERNAL)/.test(detail))
    return appFailure('internal', 'A question about the results failed.', { detail });
  return appFailure('run_damaged', 'Its results cannot be read.', { detail });
}
