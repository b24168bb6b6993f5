import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { appErrorSchema } from '../errors.ts';
import { inputPathSchema, LIMITS, pathSchema, wordSchema } from '../limits.ts';
import { wordingSchema } from '../messages.ts';
import { MODEL_ROLES } from '../model.ts';
import { sha256Schema } from '../protocol/common.ts';
import { countSchema, precisionSchema, probeResultSchema } from '../protocol/index.ts';
import { procedure } from './procedure.ts';

/** What must be known before anything is set up or fetched; null for what is usual. */
const setup = {
  /** For weights, the Python environment and the list of runs; takes effect at the next start. */
  dataFolder: pathSchema.min(1).nullable(),
  /** Such as http://proxy.example:3128. */
  proxy: pathSchema.regex(/^(https?|socks5h?):\/\/\S+$/).nullable(),
  /** PEM file of the authority that a network which inspects traffic signs with. */
  certificateFile: pathSchema.min(1).nullable(),
  /** Mirror of the Python package index. */
  packageIndex: pathSchema.regex(/^(https?|file):\/\/\S+$/).nullable(),
  /** Address that has the files of the weights side by side, by their names. */
  weightsMirror: pathSchema.regex(/^https?:\/\/\S+$/).nullable(),
  /** A Python of the user's own, used as it is. */
  interpreter: pathSchema.min(1).nullable(),
};

export const setupSettingsSchema = z.object({
  dataFolder: setup.dataFolder.default(null),
  proxy: setup.proxy.default(null),
  certificateFile: setup.certificateFile.default(null),
  packageIndex: setup.packageIndex.default(null),
  weightsMirror: setup.weightsMirror.default(null),
  interpreter: setup.interpreter.default(null),
});
export type SetupSettings = z.infer<typeof setupSettingsSchema>;

const settings = {
  theme: z.enum(['system', 'light', 'dark']),
  language: z.enum(['en', 'de']),
  /** Null for a folder beside the input. */
  outputFolder: pathSchema.nullable(),
  keepAwake: z.boolean(),
  notifications: z.boolean(),
  welcomeSeen: z.boolean(),
};

export const settingsSchema = z.object({
  theme: settings.theme.default('system'),
  language: settings.language.default('en'),
  outputFolder: settings.outputFolder.default(null),
  keepAwake: settings.keepAwake.default(true),
  notifications: settings.notifications.default(true),
  welcomeSeen: settings.welcomeSeen.default(false),
  ...setupSettingsSchema.shape,
});
export type Settings = z.infer<typeof settingsSchema>;

/** Made from the bare fields: a default would set back every setting that a change does not name. */
export const settingsChangeSchema = z.object({ ...settings, ...setup }).partial();

const computerCheckIdSchema = z.enum(['gpus', 'memory', 'disk', 'python', 'computing', 'weights']);

const computerCheckSchema = z.object({
  id: computerCheckIdSchema,
  title: z.string(),
  /** `waiting`: it can be said only once something else is in place. */
  status: z.enum(['good', 'warning', 'bad', 'checking', 'waiting']),
  sentence: z.string(),
  /** The sentence for a window in another language, by the keys of its parts; empty where it has none. */
  wordings: z.array(wordingSchema),
  /** What the one button does; null where there is nothing to do. */
  action: z
    .object({
      label: z.string(),
      kind: z.enum(['set_up_python', 'repair_python', 'get_weights', 'check_again']),
    })
    .nullable(),
});
export type ComputerCheck = z.infer<typeof computerCheckSchema>;

const precisionAnswersSchema = z.object({
  precision: precisionSchema,
  /** Largest difference of a score; null where none are known, or nothing was computed. */
  scoreDifference: z.number().nullable(),
  /** Largest relative difference of an embedding's norm; null where nothing was computed. */
  normDifference: z.number().nullable(),
  /** A sentence; null where the answers are right. */
  problem: z.string().nullable(),
});

const deviceAnswersSchema = z.object({
  id: z.string(),
  name: z.string(),
  precisions: z.array(precisionAnswersSchema),
});
export type DeviceAnswers = z.infer<typeof deviceAnswersSchema>;

/** How far a model's answers for some known reading frames are from what they must be, by device and precision. */
export const answersSchema = z.object({
  /** The original tool's answers; those stored for the teaching model; or, for a model of the user's own, the processor's. */
  against: z.enum(['original_tool', 'stored', 'processor']),
  source: z.string(),
  checkedAt: z.iso.datetime(),
  devices: z.array(deviceAnswersSchema),
});
export type Answers = z.infer<typeof answersSchema>;

/** What is another since the last check. */
const answersOutdatedSchema = z.enum(['model', 'driver', 'pytorch', 'devices']);
export type AnswersOutdated = z.infer<typeof answersOutdatedSchema>;

const estimateSchema = z.object({ value: z.number(), low: z.number(), high: z.number() });

/** What a model makes of sequences with a known answer, on one kind of device. */
export const controlsSchema = z.object({
  checkedAt: z.iso.datetime(),
  seconds: z.number().nonnegative(),
  kind: z.enum(['cuda', 'rocm', 'mps', 'cpu']),
  deviceName: z.string(),
  /** Of the GPU, and the version of PyTorch: another one may compute something else. Null where unknown. */
  driver: z.string().nullable().default(null),
  pytorch: z.string().nullable().default(null),
  precision: precisionSchema,
  panel: z.object({ file: z.string(), sha256: sha256Schema, quick: z.boolean() }),
  /** `differs`: from the scores known for this model. `shifted`: told apart, but not at 0.5. `weak`: worse than counting k-mers. */
  verdict: z.enum(['works', 'differs', 'shifted', 'weak', 'chance', 'inverted', 'no_answer']),
  /** Sentences. */
  reasons: z.array(z.string()),
  /** Of viral against host sequences, with its 95 % interval; null without scores. */
  auroc: estimateSchema.nullable(),
  groups: z.array(
    z.object({
      group: z.enum(['viral', 'host', 'crassphage', 'shuffled']),
      sequences: countSchema,
      scored: countSchema,
      called_virus: countSchema,
      share_called_virus: estimateSchema.nullable(),
      /** Of every sequence; null without one. */
      scores: z.array(z.number().nullable()),
    }),
  ),
});
export type Controls = z.infer<typeof controlsSchema>;

const controlsOutdatedSchema = z.enum(['driver', 'pytorch', 'panel']);
/** What has changed since a model was checked. */
export type ControlsOutdated = z.infer<typeof controlsOutdatedSchema>;

const lastControlsSchema = controlsSchema.extend({ outdated: controlsOutdatedSchema.nullable() });
export type LastControls = z.infer<typeof lastControlsSchema>;

const calledSchema = z.object({ called: countSchema, scored: countSchema });

/** What a run notes of the last controls of its model when it begins. */
export const runControlsSchema = controlsSchema
  .pick({ checkedAt: true, kind: true, deviceName: true, precision: true, verdict: true, auroc: true })
  .extend({ quick: z.boolean(), panelSha256: sha256Schema, viral: calledSchema, host: calledSchema });
export type RunControls = z.infer<typeof runControlsSchema>;

const modelTestsSchema = z.object({
  /** As in `models`. */
  model: z.string(),
  title: z.string(),
  hash: sha256Schema,
  /** Null where its answers were never checked. */
  last: z.object({ answers: answersSchema, outdated: answersOutdatedSchema.nullable() }).nullable(),
  /** With each kind of device and precision that it was checked with, the newest first. */
  controls: z.array(lastControlsSchema),
  /** That running all controls takes, by what was measured here; null where nothing was. */
  controlsSeconds: z.number().nullable(),
  /** That the devices which a run takes by itself compute; null where their speed was not measured. */
  chunksPerMinute: z.number().nullable(),
});
export type ModelTests = z.infer<typeof modelTestsSchema>;
/** Where the classes of length begin, in bp: short sequences score otherwise than long ones. */
export const LENGTH_CLASSES: readonly number[] = [0, 100, 250, 500, 1000, 3000, 10_000];

const labelledCountsSchema = z.object({ sequences: countSchema, scored: countSchema });

/** What a model makes of the user's own sequences with a known answer. */
export const calibrationSchema = z.object({
  calibratedAt: z.iso.datetime(),
  chunkLength: countSchema,
  precision: precisionSchema,
  viralFile: z.string(),
  otherFile: z.string(),
  /** One for each of LENGTH_CLASSES. */
  classes: z.array(
    z.object({
      from: countSchema,
      viral: labelledCountsSchema,
      other: labelledCountsSchema,
      /** How many score at least as high as the threshold. */
      thresholds: z.array(
        z.object({ threshold: z.number(), viralAbove: countSchema, otherAbove: countSchema }),
      ),
      /** Of the sequences that are no viruses, from the highest on; of many sequences not all. */
      trustedScores: z.array(z.number().min(0).max(1)),
    }),
  ),
});
export type Calibration = z.infer<typeof calibrationSchema>;

const deviceSpeedSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** With the batch size that suits the device best; null where it could not be measured. */
  speed: z
    .object({
      precision: precisionSchema,
      /** Of ESM-2 3B. */
      residuesPerSecond: z.number().nonnegative(),
      /** Of DNABERT-S. */
      framesPerSecond: z.number().nonnegative(),
      /** ESM-2's rate as a part of what the device's matrix products alone would reach. */
      shareOfProducts: z.number().nonnegative(),
    })
    .nullable(),
  /** Why it could not be measured. */
  problem: z.string().nullable(),
});

/** How fast the devices run the encoders. */
const measuredSpeedSchema = z.object({
  measuredAt: z.iso.datetime(),
  devices: z.array(deviceSpeedSchema),
  /** All figures as JSON, with hardware and versions, to send in. */
  figures: z.string(),
});
export type MeasuredSpeed = z.infer<typeof measuredSpeedSchema>;

/** What the levels of the self-test that a user starts found last. */
const selfTestsSchema = z.object({
  /** Of every model that is here. */
  models: z.array(modelTestsSchema),
  /** Measured with the packages that are installed; null where nothing was. */
  speed: measuredSpeedSchema.nullable(),
});
export type SelfTests = z.infer<typeof selfTestsSchema>;

/** `model` computes known reading frames with a model on every device in every precision, `controls` known sequences on a device of
 * every kind; `speed` measures each device for about a minute. */
const selfTestLevelSchema = z.discriminatedUnion('level', [
  z.object({ level: z.literal('model'), model: pathSchema }),
  z.object({ level: z.literal('controls'), model: pathSchema }),
  z.object({ level: z.literal('speed') }),
]);
export type SelfTestLevel = z.infer<typeof selfTestLevelSchema>;

const modelStatusSchema = z.object({
  /** teaching, 300, 500, or the path of an imported model's folder. */
  id: z.string(),
  title: z.string(),
  kind: z.enum(['published', 'imported', 'teaching']),
  notice: z.string().nullable(),
  chunkLength: countSchema,
  present: z.boolean(),
  /** What getting it fetches, of what isn't here already; null where it isn't fetched. */
  downloadBytes: countSchema.nullable(),
  /** Of downloadBytes, what an interrupted download has left. */
  fetchedBytes: countSchema,
  problem: appErrorSchema.nullable(),
  folder: z.string(),
  /** On the disk, with what it shares; null where it isn't here. */
  sizeBytes: countSchema.nullable(),
  /** What removing it frees. */
  freesBytes: countSchema,
  /** Titles of the models that use one of its encoders, too. */
  sharedWith: z.array(z.string()),
  /** When all its files were last read and compared with their hashes. */
  checkedAt: z.string().nullable(),
  files: z.array(
    z.object({
      role: z.enum(MODEL_ROLES),
      /** Null where it isn't here. */
      path: z.string().nullable(),
      sizeBytes: countSchema,
      /** Where it was published, and under which terms; null for what was imported. */
      source: z.string().nullable(),
      license: z.string().nullable(),
      citation: z.string().nullable(),
    }),
  ),
});
export type ModelStatus = z.infer<typeof modelStatusSchema>;

const removedModelSchema = z.object({
  freedBytes: countSchema,
  /** Titles of the models that keep what they share with it. */
  usedBy: z.array(z.string()),
});
export type RemovedModel = z.infer<typeof removedModelSchema>;

/** What files and folders hold, by their content. */
export const foundWeightsSchema = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['esm2', 'dnabert_s', 'head', 'tokenizer', 'config', 'index', 'other']),
      sizeBytes: countSchema,
      /** Why it is not used. */
      note: z.string().nullable(),
      noteWording: wordingSchema.nullable(),
    }),
  ),
  /** One for each classifier. */
  models: z.array(
    z.object({
      head: z.string(),
      /** A suggestion. */
      name: z.string(),
      /** Null where nothing says with which it was trained. */
      chunkLength: countSchema.nullable(),
      /** The published model whose classifier it is. */
      published: z.string().nullable(),
      /** What is neither among the files nor on this computer. */
      missing: z.array(z.string()),
      problem: z.string().nullable(),
    }),
  ),
  /** Encoders that are whole. */
  encoders: z.array(z.enum(['esm2', 'dnabert_s'])),
  problems: z.array(z.string()),
});
export type FoundWeights = z.infer<typeof foundWeightsSchema>;

const importRequestSchema = z.object({
  paths: z.array(inputPathSchema).min(1).max(LIMITS.weightFiles),
  name: wordSchema.min(1).optional(),
  chunkLength: z.int().positive().max(100_000).optional(),
});
export type ImportRequest = z.infer<typeof importRequestSchema>;

const stepProgressSchema = z.object({
  step: z.string(),
  /** Of the step, for a window in another language. */
  wording: wordingSchema.nullable().optional(),
  stepNumber: countSchema,
  stepCount: countSchema,
  fraction: z.number().min(0).max(1).nullable(),
  line: z.string(),
  /** Of the step; total is null where it isn't known. */
  bytes: z.object({ done: countSchema, total: countSchema.nullable() }).optional(),
  /** Since the first step began. */
  elapsedSeconds: countSchema.optional(),
  /** Until the end of this step; null where it can't be said yet. */
  remainingSeconds: countSchema.nullable().optional(),
  /** Null where nothing comes. */
  bytesPerSecond: z.number().nonnegative().nullable().optional(),
  finished: z.boolean(),
  error: appErrorSchema.nullable(),
});
export type StepProgress = z.infer<typeof stepProgressSchema>;

/** What a set-up of the Python environment would do, known before it begins. */
const setUpPlanSchema = z.object({
  folder: z.string(),
  /** Null where it isn't known ahead. */
  downloadBytes: countSchema.nullable(),
  diskBytes: countSchema.nullable(),
  diskFreeBytes: countSchema.nullable(),
  /** Which PyTorch this computer gets, in one sentence. */
  pytorch: z.string(),
});
export type SetUpPlan = z.infer<typeof setUpPlanSchema>;

/** Whether the program can compute, and what is in the way. */
const environmentStatusSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('checking') }),
  z.object({
    state: z.literal('ready'),
    pythonVersion: z.string(),
    torchVersion: z.string().nullable(),
    /** Null where Ray isn't installed. */
    rayVersion: z.string().nullable(),
    /** The program's own environment, into which it may install. */
    isOwn: z.boolean(),
  }),
  /** Nothing was set up yet, or not to its end. */
  z.object({ state: z.literal('absent'), plan: setUpPlanSchema }),
  /** It was set up, and something has damaged it since. */
  z.object({ state: z.literal('broken'), error: appErrorSchema, plan: setUpPlanSchema }),
  z.object({
    state: z.literal('setting_up'),
    progress: stepProgressSchema,
    plan: setUpPlanSchema.nullable(),
  }),
  /** The user has ended the set-up. What it had fetched is kept. */
  z.object({ state: z.literal('cancelled'), plan: setUpPlanSchema }),
  z.object({ state: z.literal('failed'), error: appErrorSchema, plan: setUpPlanSchema }),
  /** The user's own interpreter can't be used; setting up wouldn't touch it. */
  z.object({ state: z.literal('interpreter_broken'), error: appErrorSchema }),
  /** No PyTorch is made for this computer. */
  z.object({ state: z.literal('unsupported'), error: appErrorSchema }),
]);
export type EnvironmentStatus = z.infer<typeof environmentStatusSchema>;

/** As `id` of a model's status. */
const modelInput = z.object({ model: pathSchema.min(1) });

/** Computers that a folder for setting up without a network can be made for. */
export const offlinePlatformSchema = z.enum(['linux-x64', 'linux-arm64', 'darwin-arm64', 'win32-x64']);
export type OfflinePlatform = z.infer<typeof offlinePlatformSchema>;

/** `nvidia`: Turing or newer with a driver for CUDA 13; `nvidia_older`: older GPUs or drivers. */
export const gpuKindSchema = z.enum(['nvidia', 'nvidia_older', 'amd', 'apple', 'none']);
export type GpuKind = z.infer<typeof gpuKindSchema>;

export const packOfflineSchema = z.object({
  folder: pathSchema.min(1, 'Name a folder to write to.'),
  platform: offlinePlatformSchema,
  gpu: gpuKindSchema,
  /** Installed models to take along, as `models` names them. */
  models: z.array(wordSchema),
  /** A Python that the other computer has, such as 3.12; null to take one along. */
  systemPython: z
    .string()
    .regex(/^3\.\d{1,2}$/, 'Write a version of Python such as 3.12.')
    .nullable(),
});
export type PackOffline = z.infer<typeof packOfflineSchema>;

/** What can be packed. */
const offlineChoicesSchema = z.object({
  /** This computer's own; null where there is no PyTorch for it. */
  platform: offlinePlatformSchema.nullable(),
  gpu: gpuKindSchema,
  pythons: z.array(z.string()),
  /** The kinds of computers that there are packages for, and how much is fetched for each; null where that isn't known ahead. */
  kinds: z.array(
    z.object({ platform: offlinePlatformSchema, gpu: gpuKindSchema, downloadBytes: countSchema.nullable() }),
  ),
  /** What is being packed now. */
  underWay: packOfflineSchema.nullable(),
});
export type OfflineChoices = z.infer<typeof offlineChoicesSchema>;

/** Lists what a folder for setting up without a network holds. */
export const OFFLINE_LIST = 'virnucpro-offline.json';
/** There while such a folder is being packed, so that one that was interrupted is known as ours. */
export const OFFLINE_PACKING = 'virnucpro-offline.packing';

/** What a folder is that somebody wants to set this computer up from. */
const offlineFolderSchema = z.discriminatedUnion('state', [
  /** Nothing in it says that it was packed for that. */
  z.object({ state: z.literal('other') }),
  /** Packed, but not for this computer or this version, or not to its end. */
  z.object({ state: z.literal('unusable'), error: appErrorSchema }),
  z.object({
    state: z.literal('usable'),
    bytes: countSchema,
    /** Null where this computer must have it. */
    packedPython: z.string().nullable(),
    torchBuild: z.string(),
    /** Titles. */
    models: z.array(z.string()),
  }),
]);
export type OfflineFolder = z.infer<typeof offlineFolderSchema>;

export const computerContract = {
  info: procedure.output(
    z.object({
      version: z.string(),
      shell: z.enum(['electron', 'browser']),
      platform: z.string(),
      dataDir: z.string(),
      /** Folder that the file chooser of browser mode is limited to; null in Electron. */
      root: z.string().nullable(),
      /** The window is on the engine's computer, as far as can be told. */
      sameComputer: z.boolean(),
      /** Name of the engine's computer. */
      hostName: z.string(),
    }),
  ),
  devices: procedure.output(probeResultSchema),
  models: procedure.output(z.array(modelStatusSchema)),
  check: procedure.output(eventIterator(z.array(computerCheckSchema))),
  /** The Python environment; sent whole when anything changes, also while it is set up. */
  environment: procedure.output(eventIterator(environmentStatusSchema)),
  /** Makes or mends the environment; `environment` tells how far it is. Does nothing where that is under way. */
  setUpPython: procedure,
  /** Adds Ray to the program's own environment, as `setUpPython` does the rest. */
  installRay: procedure,
  cancelSetUp: procedure,
  /** Free space where a folder is or will be; null where it can't be found out. */
  freeSpace: procedure
    .input(z.object({ folder: pathSchema }))
    .output(z.object({ bytes: countSchema.nullable() })),
  selfTests: procedure.output(selfTestsSchema),
  /** Null where the model has none. */
  calibration: procedure.input(modelInput).output(calibrationSchema.nullable()),
  /** Runs a level, or follows it if it is at work already. */
  runSelfTest: procedure.input(selfTestLevelSchema).output(eventIterator(stepProgressSchema)),
  /** Fetches a published model, or follows the download that is under way. It goes on without followers. */
  getWeights: procedure.input(modelInput).output(eventIterator(stepProgressSchema)),
  /** Ends a download; what has come is kept. */
  pauseWeights: procedure.input(modelInput),
  /** Published models whose download is under way or waits for another one. */
  weightsUnderWay: procedure.output(z.object({ models: z.array(z.string()) })),
  lookAtWeights: procedure.input(importRequestSchema.pick({ paths: true })).output(foundWeightsSchema),
  importWeights: procedure.input(importRequestSchema).output(eventIterator(stepProgressSchema)),
  verifyModel: procedure.input(modelInput).output(eventIterator(stepProgressSchema)),
  removeModel: procedure.input(modelInput).output(removedModelSchema),
  offlineChoices: procedure.output(offlineChoicesSchema),
  /** Writes a folder from which another computer sets itself up without a network, or follows the packing that is under way. It
   * goes on without followers. */
  packOffline: procedure.input(packOfflineSchema).output(eventIterator(stepProgressSchema)),
  /** What is packed already is kept: packing into the same folder goes on from there. */
  cancelPacking: procedure,
  /** Whether a folder was packed for setting up without a network, and for this computer. Reads its list, not its files. */
  lookAtOfflineFolder: procedure
    .input(z.object({ folder: pathSchema.min(1, 'Name the folder.') }))
    .output(offlineFolderSchema),
  /** Sets this computer up from such a folder, in place of what `setUpPython` would fetch. */
  setUpFromFolder: procedure
    .input(z.object({ folder: pathSchema.min(1, 'Name the folder.') }))
    .output(eventIterator(stepProgressSchema)),
  /** Text for a support request, with home folder and user names taken out. */
  diagnostics: procedure.output(z.object({ text: z.string() })),
  settings: procedure.output(settingsSchema),
  changeSettings: procedure.input(settingsChangeSchema).output(settingsSchema),
  /** Files and folders of the engine's computer, for browser mode's chooser. */
  browse: procedure.input(z.object({ folder: pathSchema.nullable() })).output(
    z.object({
      folder: z.string(),
      parent: z.string().nullable(),
      entries: z.array(
        z.object({
          name: z.string(),
          path: z.string(),
          isFolder: z.boolean(),
          sizeBytes: countSchema.nullable(),
          changedAt: z.iso.datetime().nullable(),
        }),
      ),
      /** The folder holds more than is listed. */
      truncated: z.boolean(),
    }),
  ),
};
