import type { Annotation } from '../../contract/rpc/runs.ts';
import type { Plan } from '../../contract/plan.ts';
import type {
  InputDone,
  InputProblem,
  PreparedPart,
  PrepareDone,
  RecordsFile,
  PartDone,
  PartFailureCode,
} from '../../contract/protocol/index.ts';
import type { RunState, PartState } from '../../contract/runState.ts';
import type { CheckedRuns } from './checkedRuns.ts';
import type { ResultReader } from './resultReader.ts';
import type { TablesWritten } from '../results/types.ts';
import type { DeviceMeasures } from './sqlite/telemetry/deviceMeasures.ts';
import type { NumberedRunEvent } from './sqlite/telemetry/eventPages.ts';
import type { PartPage, PartPageRequest } from './sqlite/parts/partPages.ts';
import type { SharePart } from './shares.ts';
import type {
  AttemptEnd,
  AttemptStart,
  Damage,
  DeviceSampleRow,
  DeviceSummary,
  InputFailure,
  InputProgress,
  Milliseconds,
  PartFailing,
  PartIntake,
  PartSplit,
  Registered,
  ResultFileDigest,
  RunCounts,
  RunDescription,
  RunDevice,
  RunEvent,
  RunTimings,
  SampleMeans,
  StoredAttempt,
  StoredPart,
  ShareMerged,
  StoredRun,
  TimeSpan,
} from './types.ts';

/**
 * The database of one run, `run.db` in its folder. Every method answers from the store's own threads and rejects with
 * AppFailure (disk_full, folder_gone, folder_unwritable, run_damaged, internal). Calls that write are carried out in the
 * order made; each is one transaction, on disk when its promise resolves. A call that reads sees all writes resolved before it.
 */
export interface RunStore extends ResultReader {
  readonly folder: string;
  readonly readOnly: boolean;

  loadRun(): Promise<StoredRun>;
  rename(name: string): Promise<void>;
  annotate(annotation: Annotation): Promise<void>;
  /** The sample of each input; none at all where the names of the files say them. */
  setSamples(names: readonly string[]): Promise<void>;
  /** Also notes the phase as an event, from which run.json's timings come. */
  setState(state: RunState): Promise<void>;
  /** Adds or replaces by id. */
  saveDevices(devices: RunDevice[]): Promise<void>;

  // What prepare reports. Everything may be reported again by a second prepare: known things are left as they are.
  /** Reads the file and checks its hash. Rejects with prepare_failed if it isn't what was reported. */
  ingestRecords(file: RecordsFile): Promise<Registered>;
  /** `replaced`: another hash under a known key; the part is pending again, its results and bisected parts are gone. */
  registerPart(part: PreparedPart): Promise<Registered>;
  addInputProblem(problem: InputProblem): Promise<void>;
  /** Rejects with input_changed if the hash isn't the plan's. */
  finishInput(input: InputDone): Promise<void>;
  /** The input is left out of the run; what was read of it is dropped when prepare has read the others anew. */
  failInput(input: number, failure: InputFailure): Promise<void>;
  /** Drops what an earlier prepare left beyond these counts. Rejects with prepare_failed if the counts don't add up. */
  finishPrepare(done: PrepareDone): Promise<void>;
  /** Prepare must run again: a file of work/ is missing or damaged. Parts and results stay. */
  invalidatePrepare(): Promise<void>;
  /** Compares everything stored with its digests. Reads all of it. */
  findDamage(): Promise<Damage>;
  /** Rejects with run_damaged where the plan is not what the run was made with. */
  refuseDamagedPlan(): Promise<void>;
  /** Deletes what is damaged, so that it is read and computed again; answers with what was found. Rejects where the plan is damaged. */
  repairDamage(): Promise<string[]>;
  /** What SQLite finds wrong with the whole database; null where all is well. */
  checkPages(): Promise<string | null>;
  /** Checks that the files of all pending parts are there with their hash; answers with the keys of those that aren't. */
  verifyPendingParts(): Promise<string[]>;

  // Dispatch
  /** In the order of the run. */
  pendingParts(limit?: number): Promise<StoredPart[]>;
  part(key: string): Promise<StoredPart | null>;
  partsIn(state: PartState): Promise<StoredPart[]>;
  // Shares (shares.ts)
  /** All parts that wait, as the shares of the run get them. */
  shareParts(): Promise<SharePart[]>;
  /** Gives a share its parts; false where it has others of the same names. */
  adoptParts(parts: readonly SharePart[], prepared: PrepareDone): Promise<boolean>;
  /** Takes over what a share, whose lock the caller holds, has computed of the parts that wait. By its path below the folder. */
  mergeShare(share: string): Promise<ShareMerged>;

  /** Of the files below work/embeddings, as their workers reported them. */
  embeddingFiles(): Promise<{ key: string; sha256: string }[]>;
  attemptsOf(key: string): Promise<StoredAttempt[]>;
  /** The part becomes `assigned`. Answers with the attempt's number, or null if the part isn't pending. */
  startAttempt(start: AttemptStart): Promise<number | null>;
  /** An attempt that ends in neither `done` nor `failed` makes its part pending again. */
  endAttempt(attempt: number, end: AttemptEnd): Promise<void>;
  /** Checks scores and part files; in one transaction takes in the chunk rows, marks the part done, ends the attempt. */
  completePart(done: PartDone, attempt: number, endedAt: Milliseconds): Promise<PartIntake>;
  /** Gives up on a part: its chunks fail with the reason that belongs to the code. Open attempts end as `failed`. */
  failPart(key: string, failure: { code: PartFailureCode; message: string }): Promise<PartFailing>;
  /** Cuts at the chunk boundary nearest the middle. The children are pending and marked as bisected. */
  splitPart(key: string): Promise<PartSplit>;
  /** Makes failed and skipped parts pending; answers with the keys. */
  retryFailed(keys: string[] | 'all'): Promise<string[]>;
  /** Skips pending and failed parts: their chunks fail as `worker_failure`. Answers with the keys skipped. */
  skipParts(keys: string[]): Promise<string[]>;

  /** The result files by name, as they were written last; none before. */
  resultFiles(): Promise<Record<string, ResultFileDigest>>;
  saveResultFiles(files: Record<string, ResultFileDigest>): Promise<void>;

  // Progress, telemetry, events
  counts(): Promise<RunCounts>;
  inputProgress(): Promise<InputProgress[]>;
  timings(): Promise<RunTimings>;
  deviceSummaries(): Promise<DeviceSummary[]>;
  /** Sequences called virus among those scored so far; results have them once a run is done. */
  viralSoFar(): Promise<{ viral: number; scored: number }>;
  /** Reads all samples: for when a run has ended, or somebody asks. */
  deviceMeasures(): Promise<DeviceMeasures[]>;
  addSamples(samples: DeviceSampleRow[]): Promise<void>;
  samples(device: string, from: Milliseconds, to: Milliseconds): Promise<DeviceSampleRow[]>;
  /** When a device was sampled first and last; null where it never was. */
  sampleSpan(device: string): Promise<TimeSpan | null>;
  /** Means of a device's samples over each `step` of a time; steps without any sample are left out. */
  sampleMeans(device: string, span: TimeSpan, step: Milliseconds): Promise<SampleMeans[]>;
  addEvent(event: RunEvent): Promise<void>;
  /** The newest `limit` events, oldest first. */
  events(limit: number): Promise<RunEvent[]>;
  /** The newest `limit` warnings and errors, oldest first. */
  remarks(limit: number): Promise<RunEvent[]>;
  /** At most `limit` events before the one called `beforeId`, oldest first. */
  pageEvents(limit: number, beforeId?: number): Promise<NumberedRunEvent[]>;
  pageParts(request: PartPageRequest): Promise<PartPage>;

  // Results
  /** Compares everything stored with its digests and writes every table that run.db alone can give: all of RESULT_FILES but
   * viral_sequences.fna and run.json. Rejects, and no table appears, if anything is damaged, a part is still pending or a record's
   * frames are not all there. `meanwhile` is called as soon as nothing is known to be damaged, and waited for. */
  writeTables(meanwhile?: () => Promise<void>): Promise<TablesWritten>;

  /** Brings everything into run.db itself, so that copying the folder loses nothing. */
  checkpoint(): Promise<void>;
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
