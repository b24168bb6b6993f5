import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBMaterializedResult } from '@duckdb/node-api';
import { appError, AppFailure } from '../../../contract/errors.ts';

/** More threads make the questions of a window no faster, and each takes memory of its own. */
const MOST_THREADS = 4;
const MEMORY = '1GB';
/** What sorting may put on the disk beside it. */
const SPILL = '20GB';

/** Of this thread. */
const connections = new Set<DuckDBConnection>();

/** Breaks off whatever this thread asks of DuckDB, which rejects. */
export function interruptDuckDb(): void {
  for (const connection of connections) connection.interrupt();
}

/** An in-memory DuckDB of one thread of the store. */
export interface DuckDb {
  readonly connection: DuckDBConnection;
  /** Rejects with AppFailure. */
  run: (sql: string) => Promise<DuckDBMaterializedResult>;
  /** The rows of an answer, as arrays in the order of its columns. */
  rows: <Row extends unknown[]>(sql: string) => Promise<Row[]>;
  close: () => void;
}

/**
 * Loads DuckDB on first use, since it takes 50 ms and 20 MB, and most threads of the store never need it. Extensions are neither
 * fetched nor loaded; what does not fit into its memory goes to a temporary folder, which `close` removes.
 */
export async function openDuckDb(limits: { memory?: string; threads?: number } = {}): Promise<DuckDb> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  // DuckDB makes it when it needs it.
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
  const connection = await instance.connect();
  connections.add(connection);
  const run = (sql: string): Promise<DuckDBMaterializedResult> =>
    connection.run(sql).catch((error: unknown) => {
      throw failureOf(error);
    });
  return {
    connection,
    run,
    rows: async <Row extends unknown[]>(sql: string): Promise<Row[]> =>
      (await (await run(sql)).getRows()) as unknown[] as Row[],
    close: () => {
      connections.delete(connection);
      connection.closeSync();
      instance.closeSync();
      rmSync(spillFolder, { recursive: true, force: true });
    },
  };
}

/** What a failed question of our own means: its SQL is right, so it is the file, the memory or the disk. */
function failureOf(reason: unknown): AppFailure {
  const detail = reason instanceof Error ? reason.message : String(reason);
  if (/no space left/i.test(detail) || detail.includes('max_temp_directory_size'))
    return new AppFailure(
      appError('disk_full', `Sorting needs more room in ${tmpdir()} than there is.`, { detail }),
    );
  if (detail.startsWith('Out of Memory'))
    return new AppFailure(
      appError('internal', 'The results need more memory than they may take.', { detail }),
    );
  if (/^(Binder|Parser|Catalog|INTERNAL)/.test(detail))
    return new AppFailure(appError('internal', 'A question about the results failed.', { detail }));
  return new AppFailure(appError('run_damaged', 'Its results cannot be read.', { detail }));
}

/** A text, name or path as it stands in SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path of one file for `read_parquet`, which would take some of its characters for a pattern. */
export function quotedPath(path: string): string {
  return quoted(path.replaceAll(/[*?[]/g, '[$&]'));
}
