import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';

/** More threads make the questions of a window no faster, and each takes memory of its own. */
const MOST_THREADS = 4;
const MEMORY = '1GB';
/** What sorting may put on the disk beside it. */
const SPILL = '20GB';

/** An in-memory DuckDB of one thread of the store. */
export interface DuckDb {
  readonly connection: DuckDBConnection;
  /** The rows of an answer, as arrays in the order of its columns. */
  rows: <Row extends unknown[]>(sql: string, values?: DuckDBValue[]) => Promise<Row[]>;
  close: () => void;
}

/**
 * Loads DuckDB on first use, since it takes 50 ms and 20 MB, and most threads of the store never need it. Extensions are neither
 * fetched nor loaded; what does not fit into its memory goes to a temporary folder, which `close` removes.
 */
export async function openDuckDb(limits: { memory?: string; threads?: number } = {}): Promise<DuckDb> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const spillFolder = mkdtempSync(join(tmpdir(), 'virnucpro-duckdb-'));
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(limits.threads ?? Math.min(MOST_THREADS, availableParallelism())),
    memory_limit: limits.memory ?? MEMORY,
    temp_directory: spillFolder,
    max_temp_directory_size: SPILL,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  return {
    connection,
    rows: async <Row extends unknown[]>(sql: string, values?: DuckDBValue[]): Promise<Row[]> => {
      const reader = await connection.runAndReadAll(sql, values);
      return reader.getRows() as unknown[] as Row[];
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
      rmSync(spillFolder, { recursive: true, force: true });
    },
  };
}

/** A text, name or path as it stands in SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path of one file for `read_parquet`, which would take some of its characters for a pattern. */
export function quotedPath(path: string): string {
  return quoted(path.replaceAll(/[*?[]/g, '[$&]'));
}
