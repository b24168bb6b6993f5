import type { Plan } from '../../contract/plan.ts';
import type { QueryAnswer } from '../../contract/rpc/results.ts';
import type { TablesWritten } from '../results/types.ts';
import type { CheckedRuns } from './checkedRuns.ts';
import type { QueryQuestion } from './duckdb/resultQuery.ts';
import type { AskedRunMethods } from './sqlite/runMethods.ts';
import type { Asked } from './storeProtocol.ts';
import type { RunDescription } from './types.ts';

/**
 * The database of one run, `run.db` in its folder. Every method is answered by the store's own threads and
 * rejects with AppFailure (disk_full, folder_gone, folder_unwritable, run_damaged, internal). Writing calls
 * are executed in the order made; each is one transaction, which is on disk when its promise resolves, and
 * rejects with run_locked if the run was opened read-only. A reading call sees all writes resolved before it.
 * Results of an unfinished run are those of the records whose frames are all computed.
 */
export interface RunStore extends Asked<AskedRunMethods> {
  readonly folder: string;
  readonly readOnly: boolean;
  /**
   * Runs the user's SQL query in a thread that ends with it: its DuckDB is locked for anything else, and a
   * query that does not stop is ended with the thread.
   */
  queryResults(question: QueryQuestion): Promise<QueryAnswer>;
  /**
   * Compares everything stored with its digests and writes every table that needs only run.db: all of
   * RESULT_FILES but viral_sequences.fna and run.json. Rejects without any table if anything is damaged, a
   * part is still pending, or a record lacks frames. `meanwhile` is called, and awaited, as soon as no damage
   * was found.
   */
  writeTables(meanwhile?: () => Promise<void>): Promise<TablesWritten>;
  /** Checkpoints and ends the threads. A second call is harmless. */
  close(): Promise<void>;
}

export interface OpenRunStoreOptions {
  /**
   * The file that starts the store's threads: store/hostEntry.ts, or a bundle whose entry calls
   * `runStoreHost()`.
   */
  hostEntry: URL;
  /** Creates the run; rejects with folder_has_run if there is one. */
  create?: { plan: Plan; description: RunDescription };
  /** Opens it read-only, also while another engine computes the run. Writing calls reject. */
  readOnly?: boolean;
  /** Known stamps of runs that were open before; without it, only of those that this process had open. */
  checkedRuns?: CheckedRuns | undefined;
  /** Aborted when the program is being closed: no database is opened after that. */
  closing?: AbortSignal | undefined;
}
/**
 * Opens a run. When it is opened for writing, attempts left open by a dead engine end as `interrupted`.
 * Rejects with folder_not_a_run, run_too_new, run_damaged, folder_unwritable. Take the run lock first
 * (runFolder.ts).
 */
export type OpenRunStore = (folder: string, options: OpenRunStoreOptions) => Promise<RunStore>;
