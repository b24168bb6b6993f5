import type { Wording } from '../../contract/messages.ts';
import type { AppError } from '../../contract/errors.ts';
import type { Plan } from '../../contract/plan.ts';
import type {
  InputProblem,
  MemoryProfile,
  PrepareDone,
  PartFailureCode,
} from '../../contract/protocol/index.ts';
import type { RunState, PartState } from '../../contract/runState.ts';

/** All times are milliseconds since the epoch. */
export type Milliseconds = number;

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
/** A value left undefined is not stored. */
export type JsonObject = { [key: string]: JsonValue | undefined };

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
  kind: 'cuda' | 'rocm' | 'mps' | 'cpu';
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
  /** Why it was left out of the run while it was being read; null where it wasn't. */
  failure: InputFailure | null;
}

export interface InputFailure {
  code: string;
  message: string;
}

/** Under which such files are kept with the run's request. */
export const LEFT_OUT_OPTION = 'leftOut';
/** Where a run keeps the signature of the computer that made it. */
export const MADE_HERE_OPTION = 'madeHere';
/** Where a run keeps the samples that its user named; else the names of the files say them. */
export const SAMPLES_OPTION = 'samples';
/** Where a run keeps what a sample sheet says of each input's sample. */
export const SAMPLE_DETAILS_OPTION = 'sampleDetails';

/** Where a run keeps the goal that was set after it was made. */
export const GOAL_OPTION = 'goal';

/** A file that the user named and that was no part of the run from the beginning. */
export interface LeftOutInput extends InputFailure {
  path: string;
}

export interface StoredPart {
  key: string;
  /** Key of the part this one was cut from. */
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
  /** Lower ones are computed first; always 0 in the order of the files. */
  round: number;
  state: PartState;
  /** Attempts begun, those recalled or interrupted by the engine's own end left out. */
  attempts: number;
  device: string | null;
  seconds: number | null;
  failure: { code: PartFailureCode; message: string } | null;
  recomputedFp32: number;
  batchHalvings: number;
  bisected: boolean;
}

export interface RunCounts {
  /** `split` parts are counted apart; their children carry the work. */
  parts: Record<PartState, number>;
  /** Of all parts but split ones. */
  frames: WorkCount;
  residues: WorkCount;
  records: number;
  /** Done parts whose scores are bounded rather than byte-identical: bisected, or a batch was halved. */
  boundedParts: number;
  /** Done parts in which frames were recomputed in FP32. */
  recomputedParts: number;
  /** Frames of done parts whose protein, or nucleotides, were embedded with an equal frame's. */
  repeatedProteins: number;
  repeatedNucleotides: number;
  /** Frames of done parts with an embedding whose norm lies outside what the model is expected to give. They are scored. */
  outsideNormBand: number;
  /** Of all done parts; null where it is not known. */
  norms: { esm2: NormRange | null; dnabertS: NormRange | null };
}

/** Lowest and highest Euclidean norm of an encoder's embeddings. */
export interface NormRange {
  low: number;
  high: number;
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
  partsInWork: number;
  /** Of a part that spans several inputs by their share of the bases in its range of records. */
  residues: WorkCount;
  /** Time of devices for its parts that are done, shared out likewise. */
  deviceSeconds: number;
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
  leftOut: LeftOutInput[];
  /** Null until prepare is finished, and again after `invalidatePrepare`. */
  prepared: PrepareDone | null;
  counts: RunCounts;
}

export type Registered = 'new' | 'known' | 'replaced';

export interface AttemptStart {
  part: string;
  device: string;
  workerPid: number;
  startedAt: Milliseconds;
  /** Log file of the worker, relative to the run folder. */
  log: string | null;
}

/** `recalled`: not begun and taken back. `interrupted`: the engine ended or paused. Both cost the part no attempt. */
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

export type PartIntake =
  | { outcome: 'taken'; chunks: number; framesFailed: number }
  /** Known already; nothing was written. */
  | { outcome: 'already_done' }
  /** Replaced, split or deleted meanwhile; the scores are of no use. */
  | { outcome: 'superseded' }
  /** The scores file isn't what the worker reported. The part is pending again: compute it once more. */
  | { outcome: 'scores_damaged'; message: string }
  /** The part's own file is missing or damaged. Prepare must run again. */
  | { outcome: 'part_damaged'; message: string };

export interface ShareMerged {
  /** Of the parts that were taken over. */
  keys: string[];
  /** The share has computed all of its parts, and none of them is damaged. */
  finished: boolean;
  /** Parts whose stored rows are not those that were stored: they are left where they are. */
  damaged: number;
}

export type PartFailing =
  | { outcome: 'failed'; chunks: number }
  | { outcome: 'superseded' }
  | { outcome: 'part_damaged'; message: string };

export type PartSplit =
  | { outcome: 'split'; children: [string, string] }
  /** It holds a single chunk. */
  | { outcome: 'indivisible' }
  | { outcome: 'superseded' }
  | { outcome: 'part_damaged'; message: string };

/** What was found when everything stored was compared with its digests. */
export interface Damage {
  /** The plan, or what is said of its inputs, is not what the run was made with. It cannot be restored. */
  plan: boolean;
  /** Numbers, in the database, of the settled parts whose rows are damaged. */
  parts: number[];
  /** One sentence for each kind of damage; none where all is sound. */
  found: string[];
}

/** A result file as it was written. */
export interface ResultFileDigest {
  bytes: number;
  sha256: string;
}

export interface DeviceSampleRow {
  time: Milliseconds;
  device: string;
  utilizationPercent: number | null;
  memoryUsedBytes: number | null;
  powerW: number | null;
  temperatureC: number | null;
  residuesPerSecond: number | null;
  framesPerSecond: number | null;
}

/** Both ends included. */
export interface TimeSpan {
  first: Milliseconds;
  last: Milliseconds;
}

/** Of the samples from `time` on. */
export type SampleMeans = Omit<DeviceSampleRow, 'device' | 'framesPerSecond'>;

export interface RunEvent {
  time: Milliseconds;
  level: 'debug' | 'info' | 'warning' | 'error';
  code: string;
  message: string;
  /** The message for a window in another language. */
  wording?: Wording | null;
  detail: string | null;
}

/** One line of the run history. */
export interface HistoryEntry {
  runId: string;
  folder: string;
  name: string;
  createdAt: Milliseconds;
  finishedAt: Milliseconds | null;
  phase: RunState['phase'];
  /** What the user named when making the run; nothing for one that was made elsewhere. */
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
