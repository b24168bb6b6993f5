/** Downloads, imports and verifies weights, through the backend's `weights` module. */
import { join } from 'node:path';
import { z } from 'zod';
import { errorCodeSchema, failWith, ok, type ErrorCode, type Result } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { ImportRequest } from '../../contract/rpc/computer.ts';
import { type AppPaths, networkVariables, readSetupSettings } from '../environment/appPaths.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { weightsFolder } from './modelFolder.ts';

interface WeightsProgress {
  /** The current step, such as "Downloading esm2_t36_3B_UR50D.pt". */
  readonly step: string;
  /** Bytes, of all that the whole job processes. */
  readonly done: number;
  readonly total: number | null;
}

export interface WeightsOptions {
  readonly onProgress?: (progress: WeightsProgress) => void;
  /** A sentence about what the job is waiting for. */
  readonly onNote?: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
  readonly run?: CommandRunner;
}

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('reading'), path: z.string() }),
  z.object({
    type: z.literal('progress'),
    step: z.string(),
    done: z.number(),
    total: z.number().nullable(),
  }),
  z.object({ type: z.literal('note'), text: z.string() }),
  z.object({ type: z.literal('done'), folders: z.array(z.string()).default([]) }),
  z.object({
    type: z.literal('error'),
    code: errorCodeSchema,
    message: z.string(),
    next_step: z.string().nullable(),
  }),
]);
type Line = z.infer<typeof lineSchema>;

/** Downloads and converts a published model. Continues where an earlier attempt stopped. */
export async function getModel(
  environment: PythonEnvironment,
  paths: AppPaths,
  model: string,
  options: WeightsOptions & { mirror?: string | undefined } = {},
): Promise<Result<void>> {
  const setup = readSetupSettings(paths.usualDataDir);
  const mirror = options.mirror ?? setup.weightsMirror;
  const lines = await weights(
    environment,
    ['get', ...places(paths), ...(mirror === null ? [] : ['--mirror', mirror]), model],
    { ...options, env: networkVariables(setup) },
  );
  return lines.ok ? ok(undefined) : lines;
}

/**
 * Creates models from files and folders that are on this computer already, and returns their folders: none if there
 * were only encoders, which are kept for later.
 */
export async function importModels(
  environment: PythonEnvironment,
  paths: AppPaths,
  { paths: files, name, chunkLength }: ImportRequest,
  options: WeightsOptions = {},
): Promise<Result<readonly string[]>> {
  const given = [
    ...(name === undefined ? [] : ['--name', name]),
    ...(chunkLength === undefined ? [] : ['--chunk-length', String(chunkLength)]),
  ];
  const args = ['import', ...places(paths), ...given, '--', ...files];
  const lines = await weights(environment, args, options, IMPORT_CODES);
  if (!lines.ok) return lines;
  return ok(lines.value.flatMap((line) => (line.type === 'done' ? line.folders : [])));
}

/** Reads every file of a model folder and compares its SHA-256. */
export async function verifyModel(
  environment: PythonEnvironment,
  folder: string,
  options: WeightsOptions = {},
): Promise<Result<void>> {
  const lines = await weights(environment, ['verify', folder], options);
  return lines.ok ? ok(undefined) : lines;
}

function places(paths: AppPaths): string[] {
  return ['--weights', weightsFolder(paths), '--manifest', join(paths.resources, 'models.json')];
}

async function weights(
  environment: PythonEnvironment,
  args: readonly string[],
  options: WeightsOptions & { env?: NodeJS.ProcessEnv },
  codes: Partial<Record<ErrorCode, ErrorCode>> = {},
): Promise<Result<Line[]>> {
  const lines: Line[] = [];
  let reading = '';
  const launch = pythonLaunch(environment, 'virnucpro_backend.weights', args, {}, options.env);
  const outcome = await (options.run ?? runCommand)({
    ...launch,
    signal: options.signal,
    onLine: (text) => {
      const line = parseLine(text);
      if (line?.type === 'progress') options.onProgress?.(line);
      else if (line?.type === 'note') options.onNote?.(line.text);
      else if (line?.type === 'reading') reading = line.path;
      else if (line) lines.push(line);
    },
  });
  const problem = lines.find((line) => line.type === 'error');
  if (problem) {
    const { code, message: cause, next_step: nextStep } = problem;
    return failWith(codes[code] ?? code, cause, { nextStep: nextStep ?? undefined });
  }
  if (outcome.ending === 'succeeded') return ok(lines);
  if (outcome.ending === 'cancelled') {
    return failWith('download_failed', 'This was interrupted.', { nextStep: GOES_ON });
  }
  const detail = `${outcome.summary}\n${outcome.stderr}`;
  // A signal ended it while it read the user's files: a pickle nested deeply enough crashes any reader, and
  // the system ends one that uses too much processor time.
  if (reading !== '' && outcome.ending === 'failed' && outcome.exitCode === undefined) {
    return failWith('import_refused', message('weights.brought_down', { file: reading }), { detail });
  }
  return failWith('python_broken', 'The part of the Python backend that handles weights failed.', { detail });
}

const GOES_ON = 'Start it again: it goes on where it stopped.';

/** Standard error also carries lines of libraries, which are ignored. */
function parseLine(text: string): Line | undefined {
  if (!text.startsWith('{')) return undefined;
  return parseJson(lineSchema, text);
}

/** For errors in the user's own files, not in the program. */
const IMPORT_CODES = { model_missing: 'import_refused', model_damaged: 'import_refused' } as const;
