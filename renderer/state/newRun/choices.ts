import {
  canCompute,
  isSecondLength,
  matchSheet,
  NO_DETAILS,
  sampleNames,
  samplesOfSheet,
  type ModelStatus,
  type ProbeResult,
  type ProbedGpu,
  type OtherGeneticCode,
  type Repair,
  type Goal,
  type RunRequest,
  type RunRequestInput,
  type SampleDetails,
  type SheetRow,
} from '../../../electron/contract/index.ts';
import type { ListedFile } from './inspection.ts';

/** What the user chose on the New run screen, in the form of the screen, not of the request. */
export interface RunChoices {
  readonly name: string;
  /** Sample names, by path, that differ from those derived from file names. */
  readonly samples: Readonly<Record<string, string>>;
  /** Groups, notes and controls given by hand, by path. */
  readonly details: Readonly<Record<string, SampleDetails>>;
  /** A sample sheet that was added along with the files. */
  readonly sheet: { readonly name: string; readonly rows: readonly SheetRow[] } | null;
  /** Null until the user or the list of models has decided. */
  readonly model: string | null;
  /** Length of the shorter chunks for a second look; null without one. `advised`: as fits the files. */
  readonly secondChunkLength: number | null | 'advised';
  /** Null means every usable GPU, including any that appears later. */
  readonly gpuUuids: readonly string[] | null;
  readonly cpuWorkers: number | null;
  readonly useCpu: boolean;
  readonly outputDir: string | null;
  readonly precision: RunRequest['precision'];
  readonly embeddings: RunRequest['embeddings'];
  /** Null if the size of the run decides. */
  readonly order: RunRequest['order'] | null;
  /** Repairs applied to the sequences of all files as they are read. */
  readonly repairs: readonly Repair[];
  /** Bases of the shortest sequence that is computed; null if all are. */
  readonly minLength: number | null;
  /** Null if sequences are translated by the standard code. */
  readonly geneticCode: OtherGeneticCode | null;
  readonly keepWork: boolean;
  /** Folder of a run of the earlier tool whose embeddings are taken over. */
  readonly reuseEmbeddings: string | null;
  readonly gpuMemoryGb: number | null;
  readonly tokensPerBatch: number | null;
  readonly residuesPerPart: number | null;
  readonly embedEqualSequencesOnce: boolean;
  /** Where the run stops; null means that everything is computed. */
  readonly until: Goal | null;
}

/** The advanced settings before anybody changes them. */
export const ADVANCED_DEFAULTS = {
  precision: 'auto',
  embeddings: null,
  order: null,
  tokensPerBatch: null,
  residuesPerPart: null,
  gpuMemoryGb: null,
  cpuWorkers: null,
  embedEqualSequencesOnce: true,
  keepWork: false,
  useCpu: false,
  until: null,
  reuseEmbeddings: null,
  minLength: null,
  geneticCode: null,
} as const satisfies Partial<RunChoices>;

export const RUN_REQUEST_DEFAULTS: RunChoices = {
  ...ADVANCED_DEFAULTS,
  name: '',
  samples: {},
  details: {},
  sheet: null,
  model: null,
  secondChunkLength: 'advised',
  gpuUuids: null,
  outputDir: null,
  repairs: [],
};

/** A GPU is not usable if it is hidden, lacks something, or computes only through its slices. */
export function isUsable(gpu: ProbedGpu): boolean {
  return gpu.visible && canCompute(gpu);
}

/** The GPUs that the engine uses if nothing was chosen. */
export function takenByItself(probe: ProbeResult | null): ProbedGpu[] {
  return probe?.gpus.filter(isUsable) ?? [];
}

/** Whether a run is expected to use GPUs. If all of them lack something and none is named, it uses the processor. */
export function expectsGpus(choices: RunChoices, probe: ProbeResult | null): boolean {
  const there = probe?.gpus.some(canCompute) ?? false;
  return there || chosenGpus(choices, probe).length > 0;
}

export function chosenGpus(choices: RunChoices, probe: ProbeResult | null): ProbedGpu[] {
  const { gpuUuids } = choices;
  if (gpuUuids === null) return takenByItself(probe);
  const usable = probe?.gpus.filter(isUsable) ?? [];
  return usable.filter((gpu) => gpuUuids.includes(gpu.uuid) || gpuUuids.includes(String(gpu.index)));
}

/**
 * The chosen model, or else one that is installed, the advised one first. It is never a model without meaning, such as
 * the teaching model: only the user can choose that.
 */
export function chosenModel(
  choices: RunChoices,
  models: readonly ModelStatus[] | null,
  advised: string | null = null,
): ModelStatus | null {
  const wanted = models?.find((model) => model.id === choices.model);
  if (wanted) return wanted;
  const here = (models ?? []).filter((model) => model.notice === null && model.present && !model.problem);
  const byPreference = here.toSorted((a, b) => b.chunkLength - a.chunkLength);
  return byPreference.find((model) => model.id === advised) ?? byPreference[0] ?? null;
}

/**
 * The shorter chunks in which a run with this model can look again where a chunk has no open frame; `missing` is the
 * model for them if it must be downloaded first. Only published models have another one for another length.
 */
export function secondLookOf(
  model: ModelStatus,
  models: readonly ModelStatus[],
): { readonly length: number; readonly missing: ModelStatus | null } | null {
  const [own] = models
    .filter(({ kind, chunkLength }) => kind === 'published' && isSecondLength(chunkLength, model.chunkLength))
    .toSorted((a, b) => b.chunkLength - a.chunkLength);
  if (!own) return null;
  const isMissing = model.kind === 'published' && (!own.present || own.problem !== null);
  return { length: own.chunkLength, missing: isMissing ? own : null };
}

export function devicesText(choices: RunChoices, probe: ProbeResult | null): string {
  if (choices.useCpu || (!expectsGpus(choices, probe) && choices.cpuWorkers !== null))
    return choices.cpuWorkers === null ? 'cpu' : `cpu:${choices.cpuWorkers}`;
  if (choices.gpuUuids === null) return 'auto';
  return chosenGpus(choices, probe)
    .map((gpu) => gpu.uuid)
    .join(',');
}

/** The sample of each file: named by the user, else taken from the sample sheet or from the names of all files. */
export function samplesOfFiles(choices: RunChoices, files: readonly ListedFile[]): string[] {
  const paths = files.map(({ path }) => path);
  const { samples } = bySheet(choices, paths);
  return sampleNames(paths).map((name, index) => {
    const path = paths[index] ?? '';
    return choices.samples[path] ?? samples[path] ?? name;
  });
}

/** What is known of each file's sample besides its name. */
export function detailsOfFiles(choices: RunChoices, files: readonly ListedFile[]): SampleDetails[] {
  const paths = files.map(({ path }) => path);
  const { sampleDetails } = bySheet(choices, paths);
  return paths.map((path) => choices.details[path] ?? sampleDetails[path] ?? NO_DETAILS);
}

/** Whether a line of the sample sheet matches several files. */
export const hasAmbiguousLine = ({ sheet }: RunChoices, files: readonly ListedFile[]): boolean =>
  sheet !== null &&
  matchSheet(
    sheet.rows,
    files.map(({ path }) => path),
  ).ambiguous.length > 0;

const bySheet = ({ sheet }: RunChoices, paths: readonly string[]) =>
  samplesOfSheet(matchSheet(sheet?.rows ?? [], paths).rows);

/** The request in the engine's form; settings that were left to the program are omitted. */
export function requestFrom(
  choices: RunChoices,
  files: readonly ListedFile[],
  model: ModelStatus,
  probe: ProbeResult | null,
): RunRequestInput {
  const name = choices.name.trim();
  const paths = files.map(({ path }) => path);
  const sheet = bySheet(choices, paths);
  const samples = { ...sheet.samples, ...ofPaths(choices.samples, paths) };
  const sampleDetails = { ...sheet.sampleDetails, ...ofPaths(choices.details, paths) };
  return {
    inputs: paths,
    model: model.id,
    ...(typeof choices.secondChunkLength === 'number' &&
    isSecondLength(choices.secondChunkLength, model.chunkLength)
      ? { secondChunkLength: choices.secondChunkLength }
      : {}),
    devices: devicesText(choices, probe) || 'auto',
    precision: choices.precision,
    embeddings: choices.embeddings,
    keepWork: choices.keepWork,
    embedEqualSequencesOnce: choices.embedEqualSequencesOnce,
    ...(choices.order ? { order: choices.order } : {}),
    ...(choices.until === null ? {} : { until: choices.until }),
    ...(name ? { name } : {}),
    ...(Object.keys(samples).length > 0 ? { samples } : {}),
    ...(Object.keys(sampleDetails).length > 0 ? { sampleDetails } : {}),
    ...(choices.repairs.length > 0 ? { repairs: [...choices.repairs] } : {}),
    ...(choices.minLength === null ? {} : { minLength: choices.minLength }),
    ...(choices.geneticCode === null ? {} : { geneticCode: choices.geneticCode }),
    ...(choices.reuseEmbeddings === null ? {} : { reuseEmbeddings: choices.reuseEmbeddings }),
    ...(choices.outputDir === null ? {} : { outputDir: choices.outputDir }),
    ...(choices.gpuMemoryGb === null ? {} : { gpuMemoryBytes: Math.round(choices.gpuMemoryGb * 1e9) }),
    ...(choices.tokensPerBatch === null ? {} : { tokensPerBatch: choices.tokensPerBatch }),
    ...(choices.residuesPerPart === null ? {} : { residuesPerPart: choices.residuesPerPart }),
  };
}

function ofPaths<Value>(
  known: Readonly<Record<string, Value>>,
  paths: readonly string[],
): Record<string, Value> {
  const listed = new Set(paths);
  return Object.fromEntries(Object.entries(known).filter(([path]) => listed.has(path)));
}

/** The choices that lead to the same request, for repeating a run. */
export function choicesFrom(request: RunRequest): RunChoices {
  const cpu = /^cpu(?::(\d+))?$/.exec(request.devices);
  const listed = /^auto(:|$)/.test(request.devices) || cpu ? null : request.devices.split(',');
  return {
    ...RUN_REQUEST_DEFAULTS,
    name: request.name ?? '',
    samples: request.samples ?? {},
    details: request.sampleDetails ?? {},
    model: request.model,
    secondChunkLength: request.secondChunkLength ?? null,
    gpuUuids: listed,
    useCpu: cpu !== null,
    cpuWorkers: cpu?.[1] ? Number(cpu[1]) : null,
    precision: request.precision,
    embeddings: request.embeddings,
    order: request.order ?? null,
    repairs: request.repairs ?? [],
    minLength: request.minLength ?? null,
    geneticCode: request.geneticCode ?? null,
    keepWork: request.keepWork,
    reuseEmbeddings: request.reuseEmbeddings ?? null,
    gpuMemoryGb: request.gpuMemoryBytes === undefined ? null : request.gpuMemoryBytes / 1e9,
    tokensPerBatch: request.tokensPerBatch ?? null,
    residuesPerPart: request.residuesPerPart ?? null,
    embedEqualSequencesOnce: request.embedEqualSequencesOnce,
    until: request.until ?? null,
  };
}
