import type { Plan } from '../../contract/plan.ts';
import type { QueryAnswer } from '../../contract/rpc/query.ts';
import type { TablesWritten } from '../results/types.ts';
import type { CheckedRuns } from './checkedRuns.ts';
import type { QueryQuestion } from './duckdb/resultQuery.ts';
import type { AskedRunMethods } from './sqlite/runMethods.ts';
import type { Asked } from './storeProtocol.ts';
import type { RunDescription } from './types.ts';

/**
 * The database of one run, `run.db` in its folder. Every method answers from the store's own threads and rejects with
 * AppFailure (disk_full, folder_gone, folder_unwritable, run_damaged, internal). Calls that write are carried out in the
 * order made; each is one transaction, on disk when its promise resolves, and rejects with run_locked where the run was opened to
 * look. A call that reads sees all writes resolved before it. Results of a run that is not done are those of the records whose
 * frames are all computed.
 */
export interface RunStore extends Asked<AskedRunMethods> {
  readonly folder: string;
  readonly readOnly: boolean;
  /** Answers a query of the user's in SQL, in a thread that ends with it: DuckDB is locked for anything else, and a query that does
   * not stop goes with it. */
  queryResults(question: QueryQuestion): Promise<QueryAnswer>;
  /** Compares everything stored with its digests and writes every table that run.db alone can give: all of RESULT_FILES but
   * viral_sequences.fna and run.json. Rejects, and no table appears, if anything is damaged, a part is still pending or a record's
   * frames are not all there. `meanwhile` is called as soon as nothing is known to be damaged, and waited for. */
  writeTables(meanwhile?: () => Promise<void>): Promise<TablesWritten>;
  /** Checkpoints and ends the threads. Harmless when called twice. */
  close(): Promise<void>;
}

export interface OpenRunStoreOptions {
  /** File that starts the store's threads: store/hostEntry.ts, or a bundle whose entry calls `runStoreHost()` there. */
  hostEntry: URL;
  /** Makes the run; rejects with folder_has_run where there is one. */
  create?: { plan: Plan; description: RunDescription };
  /** Looks only, also while another engine works on the run. Calls that write reject. */
  readOnly?: boolean;
  /** What is known of runs that were open before; without it, of those that this process had open. */
  checkedRuns?: CheckedRuns | undefined;
  /** Aborted when the program is being closed: no database is opened after it. */
  closing?: AbortSignal | undefined;
}
/** Opens a run. When opened to write, attempts left open by a dead engine end as `interrupted`. Rejects with
 * folder_not_a_run, run_too_new, run_damaged, folder_unwritable. Take the run lock first (runLock.ts). */
export type OpenRunStore = (folder: string, options: OpenRunStoreOptions) => Promise<RunStore>;
