import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { clusterChoiceSchema, type ClusterChoice } from '../cluster.ts';
import { appErrorSchema } from '../errors.ts';
import { goalSchema } from '../goal.ts';
import { inputPathSchema, LIMITS, pathSchema, wordSchema } from '../limits.ts';
import { messageSchema, wordingSchema } from '../messages.ts';
import { orderSchema, planSchema } from '../plan.ts';
import {
  countSchema,
  embeddingPrecisionSchema,
  inspectedFileSchema,
  placementSchema,
  precisionSchema,
  partKeySchema,
  problemSchema,
  repairSchema,
} from '../protocol/index.ts';
import { runStateSchema } from '../runState.ts';
import { sampleDetailsSchema, sheetRowSchema } from '../samples.ts';
import { shareEstimateSchema } from '../shareEstimate.ts';
import { runControlsSchema } from '../checks.ts';
import { procedure } from './procedure.ts';

export const runIdSchema = z.uuid();
const byRun = z.object({ runId: runIdSchema });

/** Files and folders. */
export const inputPathsSchema = z.array(inputPathSchema).min(1).max(LIMITS.inputs);

/** Bases of the shortest sequence to compute; if absent, all are. */
const { minLength: minLengthSchema, geneticCode: geneticCodeSchema } = planSchema.shape;
const repairsSchema = z.array(repairSchema).max(repairSchema.options.length);

/** Where a run is computed: here, or on a cluster through its own scheduler. */
export const whereSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('this_computer') }),
  /** Computed as shares that somebody starts with `virnucpro compute`. */
  z.object({ kind: z.literal('shares'), on_processors: z.boolean() }),
  ...clusterChoiceSchema.options,
]);
export type Where = z.infer<typeof whereSchema>;
export const THIS_COMPUTER: Where = { kind: 'this_computer' };

/** The chosen cluster, if any. */
export function clusterOf(where: Where): ClusterChoice | null {
  return where.kind === 'this_computer' || where.kind === 'shares' ? null : where;
}

/** The user's choices for a run; absent fields get defaults. */
export const runRequestSchema = z.object({
  inputs: inputPathsSchema,
  outputDir: pathSchema.optional(),
  name: wordSchema.optional(),
  /** Samples by path, for files whose sample differs from what their names suggest. */
  samples: z
    .record(inputPathSchema, wordSchema.min(1))
    .refine((samples) => Object.keys(samples).length <= LIMITS.inputs)
    .optional(),
  /** Details of samples, from a sample sheet or named by hand, by the path of the file. */
  sampleDetails: z
    .record(inputPathSchema, sampleDetailsSchema)
    .refine((details) => Object.keys(details).length <= LIMITS.inputs)
    .optional(),
  /** teaching, 300, 500, or the path of a model folder or of a head file. */
  model: pathSchema.default('500'),
  chunkLength: z.int().positive().optional(),
  /** Length of the shorter chunks for chunks without an open frame; if absent, there is no second look. */
  secondChunkLength: z.int().positive().optional(),
  where: whereSchema.default(THIS_COMPUTER),
  /** Devices of this computer: auto, cpu, cpu:3, 0,1 or UUIDs. */
  devices: z.string().max(LIMITS.devices).default('auto'),
  precision: z.union([z.literal('auto'), precisionSchema]).default('auto'),
  tokensPerBatch: z.int().positive().optional(),
  residuesPerPart: z.int().positive().optional(),
  /** If absent, the size of the run decides. */
  order: orderSchema.optional(),
  /** The goal at which the run stops; if absent, everything is computed. */
  until: goalSchema.optional(),
  /** Equal proteins, and equal nucleotides, of a part pass through their encoder once. */
  embedEqualSequencesOnce: z.boolean().default(true),
  embeddings: embeddingPrecisionSchema.nullable().default(null),
  repairs: repairsSchema.optional(),
  minLength: minLengthSchema,
  geneticCode: geneticCodeSchema,
  /** Folder of a run of the original tool, or of its fork, whose embeddings are reused; or of a finished run, whose scores are. */
  reuseEmbeddings: pathSchema.optional(),
  /** Memory that a worker may use on its GPU; if absent, all free memory. */
  gpuMemoryBytes: z.int().min(LIMITS.leastGpuMemoryBytes).optional(),
  /** Multiplies the time that a worker may stay silent, or without progress, before it is restarted. */
  patience: z.number().min(1).max(LIMITS.patience).optional(),
  /**
   * The first of the two inputs holds viruses and the second none; the model's scores for them are kept as
   * its calibration.
   */
  calibrates: z.boolean().optional(),
  /** Scores the quick panel of controls before the run, separately from its results. */
  keepWork: z.boolean().default(false),
  /** `parquet` leaves out TEXT_TABLES. */
  tables: z.enum(['all', 'parquet']).optional(),
  force: z.boolean().default(false),
  /** Fails if a file can't be used, instead of continuing without it. */
  strict: z.boolean().default(false),
});
export type RunRequest = z.infer<typeof runRequestSchema>;
export type RunRequestInput = z.input<typeof runRequestSchema>;

const workerStateSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('starting') }),
  z.object({ state: z.literal('loading') }),
  z.object({ state: z.literal('idle') }),
  z.object({ state: z.literal('working'), part: partKeySchema }),
  /** It has parts and has not advanced for half of the time after which it is restarted. */
  z.object({ state: z.literal('stalled'), part: partKeySchema }),
  z.object({ state: z.literal('restarting'), attempt: z.int(), error: appErrorSchema }),
  z.object({ state: z.literal('switched_off'), error: appErrorSchema }),
  z.object({ state: z.literal('excluded') }),
  z.object({ state: z.literal('stopped') }),
]);
export type WorkerState = z.infer<typeof workerStateSchema>;

/** How well a device's worker uses batches and memory; null until enough parts tell. */
export const workerFiguresSchema = z.object({
  /** Tokens in ESM-2's batches, of those that would have fitted. */
  batchFillPercent: z.number().nullable(),
  /** The part of the memory held on the device that no tensor used at the peaks of the last parts. */
  fragmentedPercent: z.number().nullable(),
  /** Growth of the peaks from the worker's first parts to its last. */
  memoryGrowthPercent: z.number().nullable(),
});
export type WorkerFigures = z.infer<typeof workerFiguresSchema>;
export const NO_WORKER_FIGURES: WorkerFigures = {
  batchFillPercent: null,
  fragmentedPercent: null,
  memoryGrowthPercent: null,
};

export const deviceLiveSchema = z.object({
  /** GPU UUID, or cpu:0, cpu:1, ... */
  id: z.string(),
  name: z.string(),
  /** The number from nvidia-smi; for a GPU of a cluster, its number on its node. Null for a CPU worker. */
  index: countSchema.nullable(),
  /** Its node in a cluster, and its number among the devices there; null on this computer. */
  place: z.object({ node: z.string(), number: countSchema }).nullable(),
  worker: workerStateSchema,
  partFraction: z.number().min(0).max(1).nullable(),
  /** Of the whole run, with earlier work sessions ... */
  partsDone: countSchema,
  /** ... and what it has computed of its current parts. */
  residuesDone: countSchema,
  residuesPerSecond: z.number().nonnegative().nullable(),
  framesPerSecond: z.number().nonnegative().nullable(),
  tokensPerBatch: z.int().positive().nullable(),
  /** Where ESM-2's layers are; null until the worker has loaded them. */
  placement: placementSchema.nullable(),
  utilizationPercent: z.number().nullable(),
  memoryUsedBytes: countSchema.nullable(),
  /** Null for a CPU worker, which shares the main memory with all programs. */
  memoryTotalBytes: countSchema.nullable(),
  temperatureC: z.number().nullable(),
  powerW: z.number().nullable(),
  ...workerFiguresSchema.shape,
});
export type DeviceLive = z.infer<typeof deviceLiveSchema>;

/** The cluster that a run is computing on. */
const clusterLiveSchema = z.object({
  kind: z.enum(['ray', 'slurm']),
  /** `connecting`: it has not answered yet. */
  state: z.enum(['connecting', 'open', 'ended']),
  /** The scheduler's name for the submitted job; null if there is none. */
  job: z.string().nullable(),
  /** Shares whose tasks are not computing yet, and why. */
  waiting: countSchema,
  reason: messageSchema.nullable(),
});
export type ClusterLive = z.infer<typeof clusterLiveSchema>;

const expectedShareSchema = z.object({
  /** The unit of the counts: sequences if each of them is one chunk. */
  unit: z.enum(['sequences', 'chunks']),
  viral: countSchema,
  scored: countSchema,
  /** The total, including what is not computed yet; only for inputs that were read to their end. */
  total: countSchema,
  /** What the finished run will show, with an interval of 95 %; null while what is computed is neither an even sample nor everything. */
  estimate: shareEstimateSchema.nullable(),
});
export type ExpectedShare = z.infer<typeof expectedShareSchema>;
const expectedSharesSchema = z.object({
  /** Whether what is computed first is an even sample of everything: only then can there be estimates. */
  isSample: z.boolean(),
  run: expectedShareSchema,
  samples: z.array(expectedShareSchema.extend({ sample: z.string() })),
});
export type ExpectedShares = z.infer<typeof expectedSharesSchema>;

const encoderNormsSchema = z.object({
  low: z.number(),
  high: z.number(),
  expectedLow: z.number(),
  expectedHigh: z.number(),
});
export type EncoderNorms = z.infer<typeof encoderNormsSchema>;

/**
 * Frames whose embeddings have another Euclidean norm than the model is expected to give, and the norms of
 * all frames.
 */
const unusualNormsSchema = z.object({
  frames: countSchema,
  ofFrames: countSchema,
  esm2: encoderNormsSchema,
  dnabertS: encoderNormsSchema,
});
export type UnusualNorms = z.infer<typeof unusualNormsSchema>;

const runProgressSchema = z.object({
  prepare: z.object({
    finished: z.boolean(),
    records: countSchema,
    bases: countSchema,
    frames: countSchema,
  }),
  parts: z.object({ total: countSchema, done: countSchema, failed: countSchema, inWork: countSchema }),
  frames: z.object({ total: countSchema, done: countSchema }),
  residues: z.object({ total: countSchema, done: countSchema }),
  inputs: z.object({ total: countSchema, done: countSchema, failed: countSchema }),
  /** Share of all the work, including prepare's estimate of the rest; null until it can be estimated. */
  fraction: z.number().min(0).max(1).nullable(),
  elapsedSeconds: z.number().nonnegative(),
  /** Remaining time as a range; null until it can be estimated. */
  remainingSeconds: z.object({ low: z.number(), high: z.number() }).nullable(),
  residuesPerSecond: z.number().nonnegative().nullable(),
  /** Null if there are none. Such frames are scored, but may mean that a device computes wrongly. */
  unusualNorms: unusualNormsSchema.nullable(),
});
export type RunProgress = z.infer<typeof runProgressSchema>;

/** The user's name, tags and note for a run. */
export const annotationSchema = z.object({
  tags: z.array(wordSchema.min(1)).max(LIMITS.tags),
  note: z.string().max(LIMITS.note),
});
export type Annotation = z.infer<typeof annotationSchema>;

export const runSummarySchema = z.object({
  runId: runIdSchema,
  folder: z.string(),
  name: z.string(),
  state: runStateSchema,
  /** The folder says that the run is in progress, but no process works on it: a crash cut it off. */
  interrupted: z.boolean(),
  /** The folder can't be found now, for example because its disk is not connected. */
  missing: z.boolean(),
  createdAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
  plan: planSchema,
  /** The user's request, so that it can be repeated. */
  request: runRequestSchema,
  /** The goal at which it stops; null if everything is computed. */
  goal: goalSchema.nullable(),
  queuePosition: countSchema.nullable(),
  /**
   * The last controls of its model on each kind of its devices when it began; null if they were not recorded.
   */
  controls: z.array(runControlsSchema).nullable(),
  /** Whether it has left the queue, and its devices, model and inputs are being checked. */
  starting: z.boolean(),
  /** Computing time, without pauses and outages; null while it computes, when `RunLive` has it. */
  computingSeconds: z.number().nonnegative().nullable(),
  fraction: z.number().min(0).max(1).nullable(),
  sequences: countSchema.nullable(),
  viralSequences: countSchema.nullable(),
  /** Sequences called other; the rest have no call. */
  otherSequences: countSchema.nullable(),
  /** The sample of each input of the plan. */
  samples: z.array(z.string()),
  tags: annotationSchema.shape.tags,
  note: annotationSchema.shape.note,
});
export type RunSummary = z.infer<typeof runSummarySchema>;

const runEventSchema = z.object({
  id: countSchema,
  time: z.iso.datetime(),
  level: z.enum(['info', 'warning', 'error']),
  code: z.string(),
  message: z.string(),
  /** The message for a window in another language; null where it has no key. */
  wording: wordingSchema.nullable(),
  detail: z.string().nullable(),
});
export type RunEvent = z.infer<typeof runEventSchema>;

/** Everything that the dashboard shows; sent in full, at most four times a second. */
const runLiveSchema = z.object({
  run: runSummarySchema,
  progress: runProgressSchema,
  devices: z.array(deviceLiveSchema),
  /** Null on this computer, and while no process works on the run. */
  cluster: clusterLiveSchema.nullable(),
  /** The newest events, oldest first; `runs.events` returns older ones. */
  recentEvents: z.array(runEventSchema),
});
export type RunLive = z.infer<typeof runLiveSchema>;

const measureSchema = z.number().nullable();

/** How one device performed over a run; measures are null if the device has no such sensor. */
const deviceHistorySchema = z.object({
  id: z.string(),
  /** At the same times for all devices. */
  points: z.array(
    z.object({
      /** Seconds since the epoch. */
      time: z.number(),
      utilizationPercent: measureSchema,
      memoryUsedBytes: measureSchema,
      powerW: measureSchema,
      temperatureC: measureSchema,
      residuesPerSecond: measureSchema,
    }),
  ),
  /** Share of the run's computing time in which the device computed. */
  busyFraction: measureSchema,
  /** Whether that share is at least 80 %; null for runs that are too short to tell. */
  keptBusy: z.boolean().nullable(),
  utilizationMeanPercent: measureSchema,
  memoryPeakBytes: measureSchema,
  powerMeanW: measureSchema,
  energyWh: measureSchema,
  /** It was notably slower than an equal device. */
  slowerThan: z.object({ id: z.string(), percent: z.number() }).nullable(),
});
export type DeviceHistory = z.infer<typeof deviceHistorySchema>;

const runFileSchema = z.object({ name: z.string(), bytes: countSchema });
export type RunFile = z.infer<typeof runFileSchema>;

/** `bytes` is null for a file that a finished run should have, and that is not there. */
const expectedFileSchema = runFileSchema.extend({ bytes: countSchema.nullable() });
export type ExpectedFile = z.infer<typeof expectedFileSchema>;

const inputStatusSchema = z.object({
  input: countSchema,
  path: z.string(),
  sizeBytes: countSchema,
  state: z.enum([
    'waiting',
    'preparing',
    'working',
    'done',
    'done_with_failures',
    'failed',
    'replaced',
    'accepted',
  ]),
  records: countSchema.nullable(),
  bases: countSchema.nullable(),
  parts: z.object({ total: countSchema, done: countSchema, failed: countSchema }),
  residues: z.object({ total: countSchema, done: countSchema }),
  /** Device time spent on it. */
  deviceSeconds: z.number().nonnegative(),
  problems: z.array(problemSchema),
});
export type InputStatus = z.infer<typeof inputStatusSchema>;

/**
 * A file that the run continues without: left out before it began, or found damaged or changed while it was
 * read.
 */
const unusableInputSchema = z.object({
  path: z.string(),
  error: appErrorSchema,
  /** What mends it while it is read; null if nothing does. */
  repair: repairSchema.nullable(),
});
export type UnusableInput = z.infer<typeof unusableInputSchema>;

const failedPartSchema = z.object({
  key: partKeySchema,
  firstRow: countSchema,
  lastRow: countSchema,
  /** Names of its first and last sequence; long names are cut. */
  firstName: z.string(),
  lastName: z.string(),
  /** Paths of the files that contain its sequences. */
  files: z.array(z.string()),
  device: z.string().nullable(),
  attempts: countSchema,
  /** The stage at which it failed, with cause and suggestion in plain words. */
  failure: z.object({ stage: z.enum(['reading', 'computing']), error: appErrorSchema }).nullable(),
  logPath: z.string().nullable(),
});
export type FailedPart = z.infer<typeof failedPartSchema>;

const partKeysSchema = z.array(partKeySchema.max(LIMITS.word)).max(LIMITS.rows);

const page = { offset: countSchema.default(0), limit: z.int().positive().max(1000).default(200) };

const inspectEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('found'),
    paths: z.array(z.string()),
    /** Number of files and hidden folders in folders that are not used, and some of them. */
    ignored: countSchema,
    someIgnored: z.array(z.string()),
  }),
  /** A sample sheet among the files. Null if it has an error; then it names nothing. */
  z.object({
    type: z.literal('sheet'),
    path: z.string(),
    rows: z.array(sheetRowSchema),
    error: appErrorSchema.nullable(),
  }),
  inspectedFileSchema,
]);
export type InspectEvent = z.infer<typeof inspectEventSchema>;

const estimateSchema = z.object({
  /** How it would compute; null if it can't. */
  computation: planSchema
    .pick({ precision: true, tokensPerBatch: true, residuesPerPart: true, order: true })
    .extend({ devices: z.array(z.object({ name: z.string(), count: countSchema })) })
    .nullable(),
  /** Null if this computer has no measured speed for the model yet. */
  seconds: z.object({ low: z.number(), high: z.number() }).nullable(),
  /**
   * What the estimate is based on: runs of this model on these devices, and when the newest was; without a
   * number of runs, the speed that was measured under Computer check.
   */
  basis: z.object({ runs: countSchema.nullable(), measuredAt: z.iso.datetime() }).nullable(),
  diskBytes: countSchema,
  diskFreeBytes: countSchema.nullable(),
  outputDir: z.string(),
  /** Why the run can't start as requested. */
  blocker: appErrorSchema.nullable(),
});
export type RunEstimate = z.infer<typeof estimateSchema>;

const verifiedFileSchema = z.object({
  kind: z.enum(['database', 'work', 'result', 'input']),
  /** Path below the run's folder; for an input, its full path. */
  path: z.string(),
  verdict: z.enum(['sound', 'damaged', 'missing', 'unreadable']),
  detail: z.string().nullable(),
});
export type VerifiedFile = z.infer<typeof verifiedFileSchema>;

export const runsContract = {
  /** All runs known to this computer and the queue; sent in full whenever anything changes. */
  watchAll: procedure.output(eventIterator(z.array(runSummarySchema))),
  /** Inspects files, and files in folders, one after the other. */
  inspect: procedure
    .input(
      z.object({
        paths: inputPathsSchema,
        repairs: repairsSchema.default([]),
        minLength: minLengthSchema,
        geneticCode: geneticCodeSchema,
      }),
    )
    .output(eventIterator(inspectEventSchema)),
  estimate: procedure
    .input(
      z.object({
        request: runRequestSchema,
        chunks: countSchema,
        frames: countSchema,
        residues: countSchema,
      }),
    )
    .output(estimateSchema),
  /** Creates the run's folder and adds the run to the end of the queue. */
  create: procedure.input(runRequestSchema).output(byRun),
  /** Runs the bundled example with the teaching model. */
  runExample: procedure.output(byRun),
  open: procedure.input(z.object({ folder: pathSchema })).output(byRun),
  watch: procedure.input(byRun).output(eventIterator(runLiveSchema)),
  deviceHistory: procedure.input(byRun).output(z.array(deviceHistorySchema)),
  /** The viral shares that the finished run will show, as far as is known; null once it is done. */
  expectedShares: procedure.input(byRun).output(expectedSharesSchema.nullable()),
  /** Files in the run's folder that can be opened or downloaded on their own. */
  files: procedure.input(byRun).output(z.array(expectedFileSchema)),
  /** Desktop: opens one of the result files in its default program. */
  openFile: procedure.input(byRun.extend({ name: wordSchema })),
  /** Browser mode: the address from which one of these files can be downloaded. */
  download: procedure
    .input(byRun.extend({ name: wordSchema }))
    .output(z.object({ downloadPath: z.string() })),
  events: procedure
    .input(
      byRun.extend({ beforeId: countSchema.optional(), limit: z.int().positive().max(1000).default(200) }),
    )
    .output(z.array(runEventSchema)),
  inputs: procedure.input(byRun.extend(page)).output(
    z.object({
      total: countSchema,
      items: z.array(inputStatusSchema),
      unusable: z.array(unusableInputSchema),
    }),
  ),
  /** How many parts failed or were skipped, and the first of those that failed. */
  parts: procedure
    .input(byRun)
    .output(z.object({ failed: countSchema, skipped: countSchema, items: z.array(failedPartSchema) })),
  pause: procedure.input(byRun),
  /** Sets the goal at which the run stops; null to compute everything. Time counts from now. */
  setGoal: procedure.input(byRun.extend({ goal: goalSchema.nullable() })),
  /** Resumes where the run was created to compute, or on these devices of this computer. */
  resume: procedure.input(byRun.extend({ devices: runRequestSchema.shape.devices.unwrap().optional() })),
  cancel: procedure.input(byRun),
  retry: procedure.input(byRun.extend({ parts: z.union([z.literal('all'), partKeysSchema]) })),
  skip: procedure.input(byRun.extend({ parts: partKeysSchema })),
  /**
   * Settles a file that the run went on without: it stays left out, or the file at `path`, which may be the same one
   * mended, is taken in its place, and only that is computed.
   */
  settleInput: procedure.input(
    byRun.extend({ file: z.string(), path: inputPathSchema.nullable(), repairs: repairsSchema.default([]) }),
  ),
  /**
   * Skips the waiting parts: when the current parts are finished, the results are written and say what is
   * missing.
   */
  finishNow: procedure.input(byRun),
  includeDevice: procedure.input(byRun.extend({ device: wordSchema, included: z.boolean() })),
  annotate: procedure.input(byRun.extend({ name: wordSchema.min(1), ...annotationSchema.shape })),
  /** Size of this program's files in the folder. */
  folderSize: procedure.input(byRun).output(z.object({ bytes: countSchema, files: countSchema })),
  /** Deletes this program's files in the run's folder; `work` keeps results and database. */
  remove: procedure.input(byRun.extend({ files: z.enum(['keep', 'work', 'all']) })),
  /** Reads all files of the run and compares them with their checksums. */
  verify: procedure.input(byRun).output(z.object({ sound: z.boolean(), files: z.array(verifiedFileSchema) })),
  readLog: procedure
    .input(byRun.extend({ path: pathSchema, lines: z.int().positive().max(5000).default(500) }))
    .output(z.object({ text: z.string(), truncated: z.boolean() })),
};
