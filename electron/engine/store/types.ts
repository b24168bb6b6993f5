import { z } from 'zod';
import { goalSchema } from '../../contract/goal.ts';
import type { Wording } from '../../contract/messages.ts';
import type { AppError } from '../../contract/errors.ts';
import type { PartFailureCode } from '../../contract/problems.ts';
import { planSchema, type Plan } from '../../contract/plan.ts';
import {
  failureSchema,
  type InputProblem,
  type MemoryProfile,
  type PrepareDone,
} from '../../contract/protocol/index.ts';
import { annotationSchema, runRequestSchema } from '../../contract/rpc/runs.ts';
import { sampleDetailsSchema } from '../../contract/samples.ts';
import type { RunState, PartState } from '../../contract/runState.ts';

/** All times are milliseconds since the epoch. */
export type Milliseconds = number;

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
/** A value left undefined is not stored. */
export type JsonObject = { [key: string]: JsonValue | undefined };

/** Why a run went on without a file, and whether the user has replaced it since, or wants it left out. */
export const leftOutWhySchema = failureSchema.extend({
  settled: z.enum(['replaced', 'accepted']).optional(),
});
const leftOutSchema = leftOutWhySchema.extend({ path: z.string() });

/**
 * What a run keeps beside its plan, and which does not affect scores. What cannot be read, as from another program,
 * counts as not there.
 */
export const runOptionsSchema = z.object({
  request: runRequestSchema.optional().catch(undefined),
  /** Files that were left out of the run from the beginning. */
  leftOut: z.array(leftOutSchema).optional().catch(undefined),
  /** Inputs beyond those of the plan. */
  added: planSchema.shape.inputs.optional().catch(undefined),
  /** The signature of the computer that made the run; null if it could not sign. */
  madeHere: z.string().nullable().optional().catch(undefined),
  /** The samples that the user named, one for each input; otherwise the file names determine them. */
  samples: z.array(z.string().min(1)).nullable().optional().catch(undefined),
  /** The details of each input's sample. */
  sampleDetails: z.array(sampleDetailsSchema).optional().catch(undefined),
  /** The goal that was set after the run was created; null if it was taken away. */
  goal: goalSchema.nullable().optional().catch(null),
  annotation: annotationSchema.optional().catch(undefined),
  /** Of a share: the id of its run, and its own name, such as `3-of-8`. */
  share: z.string().optional().catch(''),
  shareName: z.string().optional().catch(undefined),
});
export type RunOptions = z.infer<typeof runOptionsSchema>;

/** The name of a run and its request. The plan holds everything that decides its results. */
export interface RunDescription {
  runId: string;
  name: string;
  createdAt: Milliseconds;
  appVersion: string;
  options: RunOptions;
}

export interface RunDevice {
  /** GPU UUID, or `cpu:0`, `cpu:1`, ... */
  id: string;
  name: string;
  kind: 'cuda' | 'mps' | 'cpu';
  /** Facts from probe and worker, for run.json. */
  facts: JsonObject;
  /** Why it was switched off in this run. */
  switchedOff: AppError | null;
}

export interface StoredInput {
  input: number;
  path: string;
  sizeBytes: number;
  sha256: string;
  /** Null until prepare has read it completely. */
  prepared: { records: number; bases: number; firstRow: number } | null;
  /** Why it was left out of the run while it was being read; null if it wasn't. */
  failure: z.infer<typeof leftOutWhySchema> | null;
}

/** A file that the user named but that was left out of the run from the beginning. */
export type LeftOutInput = z.infer<typeof leftOutSchema>;

/** All files that a run goes on without, in the order of failed_files.txt. */
export function filesLeftOut({
  inputs,
  leftOut,
}: Pick<StoredRun, 'inputs' | 'leftOut'>): (LeftOutInput & { stage: 'inspection' | 'reading' })[] {
  const all = [
    ...leftOut.map((one) => ({ ...one, stage: 'inspection' as const })),
    ...inputs.flatMap(({ path, failure }) =>
      failure ? [{ ...failure, path, stage: 'reading' as const }] : [],
    ),
  ];
  return all.filter(({ settled }) => settled !== 'replaced');
}

/** The inputs of a run as prepare, and whoever extracts sequences later, has to read them. */
export function inputsRead({ plan, inputs }: Pick<StoredRun, 'inputs' | 'plan'>) {
  return plan.inputs
    .map(({ path, sha256, added }, input) => ({
      input,
      path,
      sha256,
      repairs: added?.repairs ?? plan.repairs ?? [],
      begins_parts: added !== undefined,
    }))
    .filter(({ input }) => !inputs[input]?.failure);
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
  /** Lower rounds are computed first; always 0 in the order of the files. */
  round: number;
  state: PartState;
  /** Attempts begun, without those recalled or interrupted by the engine's own end. */
  attempts: number;
  device: string | null;
  seconds: number | null;
  failure: { code: PartFailureCode; message: string } | null;
  bisected: boolean;
}

/** The key of the part that prepare wrote, of which this one may be a half. */
export function preparedKey(key: string): string {
  return key.replace(/\..*$/, '');
}

export interface RunCounts {
  /** `split` parts are counted separately; their children carry the work. */
  parts: Record<PartState, number>;
  /** Frames of all parts but split ones. */
  frames: WorkCount;
  residues: WorkCount;
  records: number;
  /**
   * Done parts whose scores are bounded rather than byte-identical, because they were bisected or a batch was
   * halved.
   */
  boundedParts: number;
  /** Of parts that an earlier run computed. */
  residuesTakenOver: number;
  /** Done parts in which frames were recomputed in FP32. */
  recomputedParts: number;
  /** Frames of done parts whose protein, or nucleotides, were embedded with an equal frame's. */
  repeatedProteins: number;
  repeatedNucleotides: number;
  /** Frames of done parts with an embedding whose norm is outside the expected range. They are scored. */
  outsideNormBand: number;
  /** Norms of all done parts; null if unknown. */
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

/** A device's work in this run: its done parts, and the time they took. */
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
  /**
   * For a part that spans several inputs, residues are divided by their share of the bases in its range of
   * records.
   */
  residues: WorkCount;
  /** Device time for its finished parts, divided in the same way. */
  deviceSeconds: number;
  /** Whether its records are all known and all their parts are done, failed or skipped. */
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

/**
 * `recalled`: not begun and recalled. `interrupted`: the engine ended or paused. Neither counts as an attempt
 * of the part.
 */
export type AttemptOutcome = 'done' | 'failed' | 'recalled' | 'interrupted' | 'worker_lost' | 'damaged';

export interface AttemptEnd {
  outcome: AttemptOutcome;
  endedAt: Milliseconds;
  code?: string;
  message?: string;
}

export type PartIntake =
  | { outcome: 'taken'; chunks: number }
  /** The part was already done; nothing was written. */
  | { outcome: 'already_done' }
  /** The part was replaced, split or deleted meanwhile; the scores are useless. */
  | { outcome: 'superseded' }
  /** The scores file differs from the worker's report. The part is pending again and must be recomputed. */
  | { outcome: 'scores_damaged'; message: string }
  /** The part's own file is missing or damaged. Prepare must run again. */
  | { outcome: 'part_damaged'; message: string };

export interface ShareMerged {
  /** Keys of the merged parts. */
  keys: string[];
  /** Whether the share has computed all of its parts, and none of them is damaged. */
  finished: boolean;
  /** Number of parts whose rows differ from those that were stored; they are not merged. */
  damaged: number;
}

export type PartFailing =
  | { outcome: 'failed'; chunks: number }
  | { outcome: 'superseded' }
  | { outcome: 'part_damaged'; message: string };

export type PartSplit =
  | { outcome: 'split'; children: [string, string] }
  /** The part holds a single chunk. */
  | { outcome: 'indivisible' }
  | { outcome: 'superseded' }
  | { outcome: 'part_damaged'; message: string };

/** The result of comparing everything stored with its digests. */
export interface Damage {
  /**
   * Whether the plan, or the facts about its inputs, differ from those of the run's creation. This cannot be
   * repaired.
   */
  plan: boolean;
  /** Database numbers of the settled parts whose rows are damaged. */
  parts: number[];
  /** One sentence for each kind of damage; empty if all is sound. */
  found: string[];
}

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

/** Means of the samples from `time` on. */
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

export interface HistoryEntry {
  runId: string;
  folder: string;
  /** What the user named when creating the run; empty for a run from elsewhere. */
  inputs: string[];
  /** What the list of runs shows, so that the run need not be opened, also while its folder is missing. */
  summary: JsonValue;
}

export interface DeviceUse {
  deviceUuid: string;
  modelHash: string;
  precision: string;
}

/** The tokens of its last batch there; and the worker's measurements, if the device reports its memory. */
export interface LearntBatch extends DeviceUse {
  tokensPerBatch: number;
  profile: MemoryProfile | null;
}
