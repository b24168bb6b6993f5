import type { AppError } from '../../contract/errors.ts';
import type { Plan } from '../../contract/plan.ts';
import type {
  InputDone,
  InputProblem,
  MemoryProfile,
  PreparedShard,
  PrepareDone,
  RecordsFile,
  ShardDone,
  ShardFailureCode,
} from '../../contract/protocol/index.ts';
import type { RunState, ShardState } from '../../contract/runState.ts';
import type { ResultReader, TablesWritten } from '../results/types.ts';
import type { DeviceMeasures } from './deviceMeasures.ts';
import type { NumberedRunEvent } from './eventPages.ts';
import type { ShardPage, ShardPageRequest } from './shardPages.ts';

/** All times are milliseconds since the epoch. */
export type Milliseconds = number;

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** What a run is called and how it was asked for. What decides its numbers is the plan. */
export interface RunDescription {
  runId: string;
  name: string;
  createdAt: Milliseconds;
  appVersion: string;
  /** Choices that don't change the numbers (devices asked for, whether to keep work files). The engine gives them meaning. */
  options: JsonObject;
}

export interface RunDevice {
  /** GPU UUID, or `cpu:0`, `cpu:1`, ... */
  id: string;
  name: string;
  kind: 'cuda' | 'mps' | 'cpu';
  /** What probe and worker said of it, for run.json. */
  facts: JsonObject;
  /** Why it was switched off in this run. */
  switchedOff: AppError | null;
}

export interface StoredInput {
  input: number;
  path: string;
  sizeBytes: number;
  sha256: string;
  /** Null until prepare has read it to its end. */
  prepared: { records: number; bases: number; firstRow: number } | null;
}

export interface StoredShard {
  key: string;
  /** Key of the shard this one was cut from. */
  parent: string | null;
  /** Relative to the run folder, forward slashes. */
  path: string;
  sha256: string;
  frameBegin: number;
  frameEnd: number;
  frames: number;
  residues: number;
  chunks: number;
  firstRow: number;
  lastRow: number;
  state: ShardState;
  /** Attempts begun, those recalled or interrupted by the engine's own end left out. */
  attempts: number;
  device: string | null;
  seconds: number | null;
  failure: { code: ShardFailureCode; message: string } | null;
  recomputedFp32: number;
  batchHalvings: number;
  bisected: boolean;
}

export interface RunCounts {
  /** `split` shards are counted apart; their children carry the work. */
  shards: Record<ShardState, number>;
  /** Of all shards but split ones. */
  frames: WorkCount;
  residues: WorkCount;
  records: number;
  /** Done shards whose scores are bounded rather than byte-identical: bisected, or a batch was halved. */
  boundedShards: number;
  /** Done shards in which frames were recomputed in FP32. */
  recomputedShards: number;
  /** Frames of done shards whose protein, or nucleotides, were embedded with an equal frame's. */
  repeatedProteins: number;
  repeatedNucleotides: number;
}

export interface WorkCount {
  total: number;
  done: number;
  /** Failed or skipped. */
  failed: number;
}

export interface RunTimings {
  createdAt: Milliseconds;
  /** When it first ran; null if it never did. */
  startedAt: Milliseconds | null;
  lastChangeAt: Milliseconds;
  /** Time in the phases running, pausing, draining and finishing. */
  workingMilliseconds: number;
}

/** What a device has done in this run: its done parts, and the time they took. */
export interface DeviceSummary {
  device: string;
  parts: number;
  frames: number;
  residues: number;
  seconds: number;
}

export interface InputProgress {
  input: number;
  /** Parts that hold records of this input. A part that spans two inputs counts for both. */
  parts: number;
  partsDone: number;
  partsFailed: number;
  residues: WorkCount;
  /** Its records are all known and all their parts are done, failed or skipped. */
  finished: boolean;
}

export interface StoredRun {
  description: RunDescription;
  plan: Plan;
  state: RunState;
  devices: RunDevice[];
  inputs: StoredInput[];
  problems: InputProblem[];
  /** Null until prepare is finished, and again after `invalidatePrepare`. */
  prepared: PrepareDone | null;
  counts: RunCounts;
}

export type Registered = 'new' | 'known' | 'replaced';

export interface AttemptStart {
  shard: string;
  device: string;
  workerPid: number;
  startedAt: Milliseconds;
  /** Log file of the worker, relative to the run folder. */
  log: string | null;
}

/** `recalled`: not begun and taken back. `interrupted`: the engine ended or paused. Both cost the shard no attempt. */
export type AttemptOutcome = 'done' | 'failed' | 'recalled' | 'interrupted' | 'worker_lost' | 'damaged';

export interface AttemptEnd {
  outcome: AttemptOutcome;
  endedAt: Milliseconds;
  code?: string;
  message?: string;
}

export interface StoredAttempt extends AttemptStart {
  attempt: number;
  end: AttemptEnd | null;
}

export type ShardIntake =
  | { outcome: 'taken'; chunks: number; framesFailed: number }
  /** Known already; nothing was written. */
  | { outcome: 'already_done' }
  /** Replaced, split or deleted meanwhile; the scores are of no use. */
  | { outcome: 'superseded' }
  /** The scores file isn't what the worker reported. The shard is pending again: compute it once more. */
  | { outcome: 'scores_damaged'; message: string }
  /** The shard's own file is missing or damaged. Prepare must run again. */
  | { outcome: 'shard_damaged'; message: string };

export type ShardFailing =
  | { outcome: 'failed'; chunks: number }
  | { outcome: 'superseded' }
  | { outcome: 'shard_damaged'; message: string };

export type ShardSplit =
  | { outcome: 'split'; children: [string, string] }
  /** It holds a single chunk. */
  | { outcome: 'indivisible' }
  | { outcome: 'superseded' }
  | { outcome: 'shard_damaged'; message: string };

export interface DeviceSampleRow {
  time: Milliseconds;
  device: string;
  utilizationPercent: number | null;
  memoryUsedBytes: number | null;
  powerW: number | null;
  temperatureC: number | null;
  tokensPerSecond: number | null;
  framesPerSecond: number | null;
}

export interface RunEvent {
  time: Milliseconds;
  level: 'debug' | 'info' | 'warning' | 'error';
  code: string;
  message: string;
  detail: string | null;
}

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
  /** Also notes the phase as an event, from which run.json's timings come. */
  setState(state: RunState): Promise<void>;
  /** Adds or replaces by id. */
  saveDevices(devices: RunDevice[]): Promise<void>;

  // What prepare reports. Everything may be reported again by a second prepare: known things are left as they are.
  /** Reads the file and checks its hash. Rejects with prepare_failed if it isn't what was reported. */
  ingestRecords(file: RecordsFile): Promise<Registered>;
  /** `replaced`: another hash under a known key; the shard is pending again, its results and bisected parts are gone. */
  registerShard(shard: PreparedShard): Promise<Registered>;
  addInputProblem(problem: InputProblem): Promise<void>;
  /** Rejects with input_changed if the hash isn't the plan's. */
  finishInput(input: InputDone): Promise<void>;
  /** Drops what an earlier prepare left beyond these counts. Rejects with prepare_failed if the counts don't add up. */
  finishPrepare(done: PrepareDone): Promise<void>;
  /** Prepare must run again: a file of work/ is missing or damaged. Shards and results stay. */
  invalidatePrepare(): Promise<void>;
  /** Checks that the files of all pending shards are there with their hash; answers with the keys of those that aren't. */
  verifyPendingShards(): Promise<string[]>;

  // Dispatch
  /** In the order of the run. */
  pendingShards(limit?: number): Promise<StoredShard[]>;
  shard(key: string): Promise<StoredShard | null>;
  shardsIn(state: ShardState): Promise<StoredShard[]>;
  attemptsOf(key: string): Promise<StoredAttempt[]>;
  /** The shard becomes `assigned`. Answers with the attempt's number, or null if the shard isn't pending. */
  startAttempt(start: AttemptStart): Promise<number | null>;
  /** An attempt that ends in neither `done` nor `failed` makes its shard pending again. */
  endAttempt(attempt: number, end: AttemptEnd): Promise<void>;
  /** Checks scores and shard files; in one transaction takes in the chunk rows, marks the shard done, ends the attempt. */
  completeShard(done: ShardDone, attempt: number, endedAt: Milliseconds): Promise<ShardIntake>;
  /** Gives up on a shard: its chunks fail with the reason that belongs to the code. Open attempts end as `failed`. */
  failShard(key: string, failure: { code: ShardFailureCode; message: string }): Promise<ShardFailing>;
  /** Cuts at the chunk boundary nearest the middle. The children are pending and marked as bisected. */
  splitShard(key: string): Promise<ShardSplit>;
  /** Makes failed and skipped shards pending; answers with the keys. */
  retryFailed(keys: string[] | 'all'): Promise<string[]>;
  /** Skips pending and failed shards: their chunks fail as `worker_failure`. Answers with the keys skipped. */
  skipShards(keys: string[]): Promise<string[]>;

  // Progress, telemetry, events
  counts(): Promise<RunCounts>;
  inputProgress(): Promise<InputProgress[]>;
  timings(): Promise<RunTimings>;
  deviceSummaries(): Promise<DeviceSummary[]>;
  /** Reads all samples: for when a run has ended, or somebody asks. */
  deviceMeasures(): Promise<DeviceMeasures[]>;
  addSamples(samples: DeviceSampleRow[]): Promise<void>;
  samples(device: string, from: Milliseconds, to: Milliseconds): Promise<DeviceSampleRow[]>;
  addEvent(event: RunEvent): Promise<void>;
  /** The newest `limit` events, oldest first. */
  events(limit: number): Promise<RunEvent[]>;
  /** The newest `limit` warnings and errors, oldest first. */
  remarks(limit: number): Promise<RunEvent[]>;
  /** At most `limit` events before the one called `beforeId`, oldest first. */
  pageEvents(limit: number, beforeId?: number): Promise<NumberedRunEvent[]>;
  pageShards(request: ShardPageRequest): Promise<ShardPage>;

  // Results
  /** Derives the sequence results and writes every table that run.db alone can give: all of RESULT_FILES but
   * viral_sequences.fna and run.json. Rejects if a shard is still pending or a record's frames are not all there. */
  writeTables(): Promise<TablesWritten>;

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
}
/** Opens a run. When opened to write, attempts left open by a dead engine end as `interrupted`. Rejects with
 * folder_not_a_run, run_too_new, run_damaged, folder_unwritable. Take the run lock first (runLock.ts). */
export type OpenRunStore = (folder: string, options: OpenRunStoreOptions) => Promise<RunStore>;

/** One line of the run history. */
export interface HistoryEntry {
  runId: string;
  folder: string;
  name: string;
  createdAt: Milliseconds;
  finishedAt: Milliseconds | null;
  phase: RunState['phase'];
  inputs: string[];
  model: string;
  notes: string;
  /** What the list of runs shows of it, so that it need not be opened, also while its folder is away. */
  summary?: JsonObject | null;
}

/** A model on a device. */
export interface DeviceUse {
  deviceUuid: string;
  modelHash: string;
  precision: string;
}

/** How many tokens a batch held there last; and what the worker measured, where the device counts its memory. */
export interface LearntBatch extends DeviceUse {
  tokensPerBatch: number;
  profile: MemoryProfile | null;
}

/** Settings, run history and what was learnt about devices: one database per user. */
export interface LibraryStore {
  setting(key: string): Promise<JsonValue | undefined>;
  settings(): Promise<JsonObject>;
  /** `undefined` removes it. */
  setSetting(key: string, value: JsonValue | undefined): Promise<void>;
  /** Adds or replaces by run id. */
  saveRun(entry: HistoryEntry): Promise<void>;
  /** Newest first. */
  history(limit?: number): Promise<HistoryEntry[]>;
  removeRun(runId: string): Promise<void>;
  learntBatch(of: DeviceUse): Promise<LearntBatch | null>;
  saveLearntBatch(batch: LearntBatch): Promise<void>;
  close(): Promise<void>;
}
