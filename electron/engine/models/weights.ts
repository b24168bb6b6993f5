/** Lists, downloads, imports and verifies weights, through the backend's `weights` module. */
import { join } from 'node:path';
import { z } from 'zod';
import { appError, type AppError, type ErrorCode } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { MODEL_ROLES, type ModelRole } from '../../contract/model.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { ModelStatus } from '../../contract/rpc/index.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { readManifest, readModelFolder } from './modelFolder.ts';
import { weightsFolder } from './weightsFolder.ts';

interface WeightsProgress {
  /** What is being done, such as "download esm2_t36_3B_UR50D.pt". */
  readonly step: string;
  readonly done: number;
  readonly total: number | null;
}

export interface WeightsOptions {
  readonly onProgress?: (progress: WeightsProgress) => void;
  readonly signal?: AbortSignal;
  readonly run?: CommandRunner;
}

/** Published or own files to make a model of; a `.pth`, `.pt`, `.bin` or safetensors file per role. */
export interface ImportRequest {
  readonly name: string;
  readonly chunkLength: number;
  readonly files: Readonly<Record<ModelRole, string>>;
  readonly title?: string;
}

const problemSchema = z.object({ code: z.string(), message: z.string(), next_step: z.string() });
const lineSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('model'),
    name: z.string(),
    title: z.string(),
    chunk_length: z.int(),
    present: z.boolean(),
    problem: problemSchema.nullable(),
    download_bytes: z.int().nullable(),
  }),
  z.object({
    type: z.literal('progress'),
    step: z.string(),
    done: z.number(),
    total: z.number().nullable(),
  }),
  z.object({ type: z.literal('done') }),
  problemSchema.extend({ type: z.literal('error') }),
]);
type Line = z.infer<typeof lineSchema>;

/** The demo model and every published model, each with whether it is here and whole. */
export async function listModels(
  environment: PythonEnvironment,
  paths: AppPaths,
  options: WeightsOptions = {},
): Promise<Result<ModelStatus[]>> {
  const lines = await weights(environment, ['list', ...weightsArguments(paths), ...manifest(paths)], options);
  if (!lines.ok) return lines;
  const published = lines.value.flatMap((line) => (line.type === 'model' ? [statusOf(line)] : []));
  const demo = await demoStatus(paths);
  return ok([...published, ...demo]);
}

/** Downloads and converts a published model. Goes on where an earlier try stopped. */
export function getModel(
  environment: PythonEnvironment,
  paths: AppPaths,
  model: string,
  options: WeightsOptions = {},
): Promise<Result<void>> {
  return finished(
    weights(environment, ['get', ...weightsArguments(paths), ...manifest(paths), model], options),
  );
}

/** Makes a model of files that are on this computer already. */
export function importModel(
  environment: PythonEnvironment,
  paths: AppPaths,
  request: ImportRequest,
  options: WeightsOptions = {},
): Promise<Result<void>> {
  const files = MODEL_ROLES.flatMap((role) => [`--${role.replace('_', '-')}`, request.files[role]]);
  const title = request.title === undefined ? [] : ['--title', request.title];
  return finished(
    weights(
      environment,
      [
        'import',
        ...weightsArguments(paths),
        ...files,
        '--chunk-length',
        String(request.chunkLength),
        ...title,
        request.name,
      ],
      options,
    ),
  );
}

/** Reads every file of a model folder and compares its SHA-256. */
export function verifyModel(
  environment: PythonEnvironment,
  folder: string,
  options: WeightsOptions = {},
): Promise<Result<void>> {
  return finished(weights(environment, ['verify', folder], options));
}

function weightsArguments(paths: AppPaths): string[] {
  return ['--weights', weightsFolder(paths)];
}

function manifest(paths: AppPaths): string[] {
  return ['--manifest', join(paths.resources, 'models.json')];
}

async function weights(
  environment: PythonEnvironment,
  args: readonly string[],
  options: WeightsOptions,
): Promise<Result<Line[]>> {
  const lines: Line[] = [];
  const launch = pythonLaunch(environment, 'virnucpro_backend.weights', args);
  const outcome = await (options.run ?? runCommand)({
    ...launch,
    signal: options.signal,
    onLine: (text) => {
      const line = parseLine(text);
      if (line?.type === 'progress') options.onProgress?.(line);
      else if (line) lines.push(line);
    },
  });
  const problem = lines.find((line) => line.type === 'error');
  if (problem) return err(asAppError(problem));
  if (outcome.ending === 'succeeded') return ok(lines);
  if (outcome.ending === 'cancelled') {
    return err(appError('model_missing', 'Getting the weights was interrupted.', { nextStep: GOES_ON }));
  }
  return err(
    appError('python_broken', 'The part of the Python backend that handles weights failed.', {
      detail: `${outcome.summary}\n${outcome.stderr}`,
    }),
  );
}

const GOES_ON = 'Start it again: it goes on where it stopped.';

/** Lines of libraries on standard error come here too, and are none of ours. */
function parseLine(text: string): Line | undefined {
  if (!text.startsWith('{')) return undefined;
  return parseJson(lineSchema, text);
}

async function finished(lines: Promise<Result<Line[]>>): Promise<Result<void>> {
  const result = await lines;
  return result.ok ? ok(undefined) : result;
}

function statusOf(line: Extract<Line, { type: 'model' }>): ModelStatus {
  return {
    id: line.name,
    title: line.title,
    notice: null,
    chunkLength: line.chunk_length,
    present: line.present,
    downloadBytes: line.download_bytes,
    problem: line.problem ? asAppError(line.problem) : null,
  };
}

async function demoStatus(paths: AppPaths): Promise<ModelStatus[]> {
  const folder = join(paths.resources, 'demo-model');
  const description = await readManifest(folder);
  if (!description.ok) return [];
  const whole = await readModelFolder(folder);
  return [
    {
      id: 'demo',
      title: description.value.title,
      notice: description.value.notice,
      chunkLength: description.value.chunk_length,
      present: whole.ok,
      downloadBytes: null,
      problem: whole.ok ? null : whole.error,
    },
  ];
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  model_unknown: 'model_unknown',
  model_missing: 'model_missing',
  model_damaged: 'model_damaged',
  weights_unreadable: 'model_damaged',
  download_failed: 'model_missing',
  offline: 'model_missing',
  disk_full: 'disk_full',
  io: 'folder_unwritable',
};

function asAppError(problem: z.infer<typeof problemSchema>): AppError {
  return appError(CODES[problem.code] ?? 'internal', problem.message, { nextStep: problem.next_step });
}
