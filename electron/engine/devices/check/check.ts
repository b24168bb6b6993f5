/** Runs one of the Python side's checks on a device, and stores the results of all checks in one file. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ok, type Result, failWith } from '../../../contract/errors.ts';
import { message, type Message } from '../../../contract/messages.ts';
import type { ProbeResult } from '../../../contract/protocol/index.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import { pythonLaunch, type PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../../environment/runCommand.ts';
import { writeJson } from '../../system/replaceFile.ts';
import { workerEnvironment, type ChosenDevice } from '../chosenDevice.ts';
import { selectDevices } from '../selectDevices.ts';

const CHECK = 'virnucpro_backend.check';

/** One processor worker is tested on behalf of all of them. */
export const CPU_ID = 'cpu:0';

export interface CheckOptions {
  readonly onDevice?: (name: string, number: number, count: number) => void;
  readonly signal?: AbortSignal | undefined;
  readonly run?: CommandRunner;
}

/** The GPUs that a run uses by default, and one processor worker. */
export function devicesToTest(probe: ProbeResult): ChosenDevice[] {
  const chosen = selectDevices('auto', probe, { cpuMemory: { sharedBytes: 0, perWorkerBytes: 0 } });
  const devices = chosen.ok ? chosen.value.filter(({ kind }) => kind !== 'cpu') : [];
  return [...devices, { kind: 'cpu', id: CPU_ID, name: probe.cpu.name, precisions: probe.cpu.precisions }];
}

/** Enough for a model of the published size in FP32, loaded from a slow disk, on a slow processor. */
const WITH_MODEL_MS = 60 * 60_000;

/** The report of one check on one device, or the reason why there is none. */
export async function testDevice<Report>(
  environment: PythonEnvironment,
  device: ChosenDevice,
  [what, ...args]: readonly [what: string, ...args: string[]],
  schema: z.ZodType<Report>,
  timeoutMs: number,
  { run = runCommand, signal }: Pick<CheckOptions, 'run' | 'signal'>,
): Promise<{ report: Report } | { report: null; lost: Message }> {
  const launch = pythonLaunch(environment, CHECK, [what, device.kind, ...args], workerEnvironment(device));
  const outcome = await run({ ...launch, timeoutMs, signal });
  const report = outcome.ending === 'succeeded' ? parseJson(schema, outcome.stdout) : undefined;
  if (report !== undefined) return { report };
  const line = outcome.stderr.trim().split('\n').at(-1) ?? '';
  return {
    report: null,
    lost:
      outcome.ending === 'timed_out'
        ? message('check.computing.no_answer')
        : message('check.computing.broke_off', { line }),
  };
}

/** The report of a check that loads a model; an error if it was stopped or there is none. */
export async function checkModel<Report>(
  environment: PythonEnvironment,
  device: ChosenDevice,
  check: readonly [what: string, ...args: string[]],
  schema: z.ZodType<Report>,
  options: Pick<CheckOptions, 'run' | 'signal'>,
): Promise<Result<Report>> {
  const tested = await testDevice(environment, device, check, schema, WITH_MODEL_MS, options);
  if (options.signal?.aborted) return failWith('usage', 'The check was stopped.');
  return 'lost' in tested ? failWith('usage', tested.lost) : ok(tested.report);
}

const keptFile = (paths: AppPaths): string => join(paths.dataDir, 'checks.json');
const keptSchema = z.record(z.string(), z.unknown());

async function readAll(paths: AppPaths): Promise<Record<string, unknown>> {
  const text = await readFile(keptFile(paths), 'utf8').catch(() => undefined);
  return parseJson(keptSchema, text) ?? {};
}

/** Reads what was stored under a name, unless it is missing or unreadable. */
export async function readKept<Content>(
  paths: AppPaths,
  name: string,
  schema: z.ZodType<Content>,
): Promise<Content | undefined> {
  return schema.safeParse((await readAll(paths))[name]).data;
}

let writing: Promise<void> = Promise.resolve();

/**
 * Stores a result until the next one with the same name. If it can't be written, the test is simply repeated
 * the next time.
 */
export function keep(paths: AppPaths, name: string, content: unknown): Promise<void> {
  const file = keptFile(paths);
  writing = writing
    .then(() => mkdir(dirname(file), { recursive: true }))
    .then(async () => {
      const all = { ...(await readAll(paths)), [name]: content };
      writeJson(file, all);
    })
    .catch(() => undefined);
  return writing;
}
