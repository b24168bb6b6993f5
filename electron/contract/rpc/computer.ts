import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { checkRequestSchema, checksSchema } from '../checks.ts';
import { appErrorSchema } from '../errors.ts';
import { inputPathSchema, LIMITS, pathSchema, wordSchema } from '../limits.ts';
import { wordingSchema } from '../messages.ts';
import { MODEL_ROLES } from '../model.ts';
import { countSchema, precisionSchema, probeResultSchema } from '../protocol/index.ts';
import { procedure } from './procedure.ts';

/** Settings that must be known before anything is set up or downloaded; null for the default. */
const setup = {
  /** Folder for weights, the Python environment and the list of runs; takes effect at the next start. */
  dataFolder: pathSchema.min(1).nullable(),
  /** For example http://proxy.example:3128. */
  proxy: pathSchema.regex(/^(https?|socks5h?):\/\/\S+$/).nullable(),
  /** PEM file of the certificate authority of a network that inspects traffic. */
  certificateFile: pathSchema.min(1).nullable(),
  /** Mirror of the Python package index. */
  packageIndex: pathSchema.regex(/^(https?|file):\/\/\S+$/).nullable(),
  /** Address of a folder that holds the weight files under their names. */
  weightsMirror: pathSchema.regex(/^https?:\/\/\S+$/).nullable(),
  /** The user's own Python, used unchanged. */
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

/** Built from the bare fields: defaults would reset every setting that a change does not name. */
export const settingsChangeSchema = z.object({ ...settings, ...setup }).partial();

const computerCheckIdSchema = z.enum(['gpus', 'memory', 'disk', 'python', 'computing', 'weights']);

const computerCheckSchema = z.object({
  id: computerCheckIdSchema,
  title: z.string(),
  /** `waiting`: the check needs something else to be in place first. */
  status: z.enum(['good', 'warning', 'bad', 'checking', 'waiting']),
  sentence: z.string(),
  /** The sentence as messages for a window in another language; empty if it has none. */
  wordings: z.array(wordingSchema),
  /** What the check's button does; null if there is nothing to do. */
  action: z
    .object({
      label: z.string(),
      kind: z.enum(['set_up_python', 'repair_python', 'get_weights', 'check_again']),
    })
    .nullable(),
});
export type ComputerCheck = z.infer<typeof computerCheckSchema>;

/** Lower bounds of the length classes, in bp: short sequences score differently from long ones. */
export const LENGTH_CLASSES: readonly number[] = [0, 100, 250, 500, 1000, 3000, 10_000];

const labelledCountsSchema = z.object({ sequences: countSchema, scored: countSchema });

/** How a model scores the user's own sequences with a known answer. */
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
      /** How many sequences score at least as high as each threshold. */
      thresholds: z.array(
        z.object({ threshold: z.number(), viralAbove: countSchema, otherAbove: countSchema }),
      ),
      /** Scores of the sequences that are no viruses, in descending order; a selection if there are many. */
      trustedScores: z.array(z.number().min(0).max(1)),
    }),
  ),
});
export type Calibration = z.infer<typeof calibrationSchema>;

const modelStatusSchema = z.object({
  /** teaching, 300, 500, or the path of an imported model's folder. */
  id: z.string(),
  title: z.string(),
  kind: z.enum(['published', 'imported', 'teaching']),
  notice: z.string().nullable(),
  chunkLength: countSchema,
  present: z.boolean(),
  /** Bytes to download for it, without the files that are already here; null if it isn't downloaded. */
  downloadBytes: countSchema.nullable(),
  /** How much of downloadBytes an interrupted download has already fetched. */
  fetchedBytes: countSchema,
  problem: appErrorSchema.nullable(),
  folder: z.string(),
  /** Bytes on disk, including shared files; null if it isn't installed. */
  sizeBytes: countSchema.nullable(),
  /** Bytes that removing it would free. */
  freesBytes: countSchema,
  /** Titles of the models that also use one of its encoders. */
  sharedWith: z.array(z.string()),
  files: z.array(
    z.object({
      role: z.enum(MODEL_ROLES),
      /** Null if it isn't installed. */
      path: z.string().nullable(),
      sizeBytes: countSchema,
      /** Where it was published, and under which terms; null for imported models. */
      source: z.string().nullable(),
      license: z.string().nullable(),
      citation: z.string().nullable(),
    }),
  ),
});
export type ModelStatus = z.infer<typeof modelStatusSchema>;

const removedModelSchema = z.object({
  freedBytes: countSchema,
  /** Titles of the models that still need the files they share with it. */
  usedBy: z.array(z.string()),
});
export type RemovedModel = z.infer<typeof removedModelSchema>;

const importRequestSchema = z.object({
  paths: z.array(inputPathSchema).min(1).max(LIMITS.weightFiles),
  name: wordSchema.min(1).optional(),
  chunkLength: z.int().positive().max(100_000).optional(),
});
export type ImportRequest = z.infer<typeof importRequestSchema>;

const stepProgressSchema = z.object({
  step: z.string(),
  /** The step's name for a window in another language. */
  wording: wordingSchema.nullable().optional(),
  stepNumber: countSchema,
  stepCount: countSchema,
  fraction: z.number().min(0).max(1).nullable(),
  line: z.string(),
  /** Bytes of the step; total is null if unknown. */
  bytes: z.object({ done: countSchema, total: countSchema.nullable() }).optional(),
  /** Seconds since the first step began. */
  elapsedSeconds: countSchema.optional(),
  /** Seconds until this step ends; null if it can't be estimated yet. */
  remainingSeconds: countSchema.nullable().optional(),
  finished: z.boolean(),
  error: appErrorSchema.nullable(),
});
export type StepProgress = z.infer<typeof stepProgressSchema>;

/** What setting up the Python environment would do, known before it begins. */
const setUpPlanSchema = z.object({
  folder: z.string(),
  /** Null if it isn't known in advance. */
  downloadBytes: countSchema.nullable(),
  diskBytes: countSchema.nullable(),
  diskFreeBytes: countSchema.nullable(),
  /** The PyTorch build for this computer, in one sentence. */
  pytorch: z.string(),
});
export type SetUpPlan = z.infer<typeof setUpPlanSchema>;

/** Whether the program can compute, and what prevents it if not. */
const environmentStatusSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('checking') }),
  z.object({
    state: z.literal('ready'),
    pythonVersion: z.string(),
    torchVersion: z.string().nullable(),
  }),
  /** Nothing was set up yet, or a set-up did not finish. */
  z.object({ state: z.literal('absent'), plan: setUpPlanSchema }),
  /** It was set up, but has been damaged since. */
  z.object({ state: z.literal('broken'), error: appErrorSchema, plan: setUpPlanSchema }),
  z.object({
    state: z.literal('setting_up'),
    progress: stepProgressSchema,
    plan: setUpPlanSchema.nullable(),
  }),
  /** The user cancelled the set-up. Downloaded files are kept. */
  z.object({ state: z.literal('cancelled'), plan: setUpPlanSchema }),
  z.object({ state: z.literal('failed'), error: appErrorSchema, plan: setUpPlanSchema }),
  /** The user's own interpreter can't be used; a set-up wouldn't change it. */
  z.object({ state: z.literal('interpreter_broken'), error: appErrorSchema }),
  /** There is no PyTorch for this computer. */
  z.object({ state: z.literal('unsupported'), error: appErrorSchema }),
]);
export type EnvironmentStatus = z.infer<typeof environmentStatusSchema>;

/** An `id` as in a model's status. */
const modelInput = z.object({ model: pathSchema.min(1) });

/** `nvidia`: Turing or newer with a driver for CUDA 13; `nvidia_older`: older GPUs or drivers. */
export const gpuKindSchema = z.enum(['nvidia', 'nvidia_older', 'apple', 'none']);
export type GpuKind = z.infer<typeof gpuKindSchema>;

export const packOfflineSchema = z.object({
  folder: pathSchema.min(1, 'Name a folder to write to.'),
  gpu: gpuKindSchema,
  /** Installed models to include, by their ids in `models`. */
  models: z.array(wordSchema),
});
export type PackOffline = z.infer<typeof packOfflineSchema>;

/** The choices for packing a folder for a computer with the same system and kind of processor. */
const offlineChoicesSchema = z.object({
  /** Those that have packages, this computer's own first; the bytes are null if they aren't known in advance. */
  gpus: z.array(z.object({ gpu: gpuKindSchema, downloadBytes: countSchema.nullable() })),
  /** What is being packed now. */
  underWay: packOfflineSchema.nullable(),
});
export type OfflineChoices = z.infer<typeof offlineChoicesSchema>;

/** Lists the contents of an offline set-up folder. */
export const OFFLINE_LIST = 'virnucpro-offline.json';
/**
 * Marker file that exists while such a folder is being packed, so that an interrupted one is recognised as
 * ours.
 */
export const OFFLINE_PACKING = 'virnucpro-offline.packing';

/** What a folder chosen for setting up this computer turns out to be. */
const offlineFolderSchema = z.discriminatedUnion('state', [
  /** The folder was not packed for a set-up. */
  z.object({ state: z.literal('other') }),
  /** It was packed for another computer or version, or packing did not finish. */
  z.object({ state: z.literal('unusable'), error: appErrorSchema }),
  z.object({
    state: z.literal('usable'),
    bytes: countSchema,
    /** Null if this computer needs a Python of its own. */
    packedPython: z.string().nullable(),
    torchBuild: z.string(),
    /** Titles of the packed models. */
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
      /** Whether the window is on the engine's computer, as far as can be determined. */
      sameComputer: z.boolean(),
      /** Name of the engine's computer. */
      hostName: z.string(),
    }),
  ),
  devices: procedure.output(probeResultSchema),
  models: procedure.output(z.array(modelStatusSchema)),
  check: procedure.output(eventIterator(z.array(computerCheckSchema))),
  /** State of the Python environment; sent in full whenever anything changes, also during a set-up. */
  environment: procedure.output(eventIterator(environmentStatusSchema)),
  /**
   * Sets up or repairs the environment; `environment` reports the progress. Does nothing if a set-up is
   * already running.
   */
  setUpPython: procedure,
  cancelSetUp: procedure,
  /** Free space at a folder that exists or will be made; null if it can't be determined. */
  freeSpace: procedure
    .input(z.object({ folder: pathSchema }))
    .output(z.object({ bytes: countSchema.nullable() })),
  checks: procedure.output(checksSchema),
  /** Null if the model has none. */
  calibration: procedure.input(modelInput).output(calibrationSchema.nullable()),
  /** Runs a check, or follows it if it is already running. */
  runCheck: procedure.input(checkRequestSchema).output(eventIterator(stepProgressSchema)),
  /**
   * Downloads a published model, or follows the download if it is already running. It continues without
   * followers.
   */
  getWeights: procedure.input(modelInput).output(eventIterator(stepProgressSchema)),
  /** Stops a download; what was downloaded is kept. */
  pauseWeights: procedure.input(modelInput),
  /** Published models that are downloading or waiting to. */
  weightsUnderWay: procedure.output(z.object({ models: z.array(z.string()) })),
  importWeights: procedure.input(importRequestSchema).output(eventIterator(stepProgressSchema)),
  verifyModel: procedure.input(modelInput).output(eventIterator(stepProgressSchema)),
  removeModel: procedure.input(modelInput).output(removedModelSchema),
  offlineChoices: procedure.output(offlineChoicesSchema),
  /**
   * Packs a folder from which another computer is set up without a network, or follows the packing if it is
   * already running. It continues without followers.
   */
  packOffline: procedure.input(packOfflineSchema).output(eventIterator(stepProgressSchema)),
  /** Keeps what is already downloaded: packing again continues from there. */
  cancelPacking: procedure,
  /**
   * Whether a folder was packed for an offline set-up of this computer. Reads only its list, not its files.
   */
  lookAtOfflineFolder: procedure
    .input(z.object({ folder: pathSchema.min(1, 'Name the folder.') }))
    .output(offlineFolderSchema),
  /** Sets up this computer from such a folder instead of the downloads that `setUpPython` makes. */
  setUpFromFolder: procedure
    .input(z.object({ folder: pathSchema.min(1, 'Name the folder.') }))
    .output(eventIterator(stepProgressSchema)),
  /** Text for a support request, with home folder and user names removed. */
  diagnostics: procedure.output(z.object({ text: z.string() })),
  settings: procedure.output(settingsSchema),
  changeSettings: procedure.input(settingsChangeSchema).output(settingsSchema),
  /** Files and folders of the engine's computer, for the file chooser of browser mode. */
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
      /** Whether the folder holds more than is listed. */
      truncated: z.boolean(),
    }),
  ),
};
