/** Runs the checks on the Python side, and stores their last results in one file. */
import { mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import {
  checkResultSchema,
  reportSchema,
  type CheckName,
  type CheckReport,
  type CheckResult,
  type LastResult,
  type Outdated,
} from '../../../contract/checks.ts';
import { ok, type Result, failWith } from '../../../contract/errors.ts';
import { inSequence, message, type Message } from '../../../contract/messages.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import type { PlanModel } from '../../../contract/plan.ts';
import type { Precision, ProbeResult } from '../../../contract/protocol/index.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import { pythonLaunch, type PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../../environment/runCommand.ts';
import { hashFile } from '../../system/hashFile.ts';
import { writeJson } from '../../system/replaceFile.ts';
import { possiblePrecisions, preferredPrecision } from '../choosePrecision.ts';
import { workerEnvironment, type ChosenDevice } from '../chosenDevice.ts';
import { selectDevices } from '../selectDevices.ts';
import { wordsOf } from './words.ts';

/** One processor worker is tested on behalf of all of them. */
export const CPU_ID = 'cpu:0';

/** The GPUs that a run uses by default, and one processor worker. */
export function devicesToTest(probe: ProbeResult): ChosenDevice[] {
  const chosen = selectDevices('auto', probe, { cpuMemory: { sharedBytes: 0, perWorkerBytes: 0 } });
  const devices = chosen.ok ? chosen.value.filter(({ kind }) => kind !== 'cpu') : [];
  return [...devices, { kind: 'cpu', id: CPU_ID, name: probe.cpu.name, precisions: probe.cpu.precisions }];
}

/** A run treats all devices of a kind alike. */
export function firstOfEachKind(devices: readonly ChosenDevice[]): ChosenDevice[] {
  return devices.filter((device, i) => devices.findIndex(({ kind }) => kind === device.kind) === i);
}

export interface Check {
  readonly onDevice?: (name: string, number: number, count: number) => void;
  readonly signal?: AbortSignal | undefined;
  readonly run?: CommandRunner;
  readonly check: CheckName;
  readonly devices: readonly ChosenDevice[];
  /** The driver of the GPUs, as the probe found it. */
  readonly driver: string | null;
  /** For controls and precision. */
  readonly model?: PlanModel;
  /** For controls; by default, each device's own. */
  readonly precision?: Precision | undefined;
  /** For controls: only 20 viral and 20 host sequences. */
  readonly quick?: boolean;
  /** For precision; by default, the example's sequences. */
  readonly inputs?: readonly string[];
  /** For speed: how long each device is measured. */
  readonly seconds?: number;
}

export interface CheckPlace {
  readonly environment: PythonEnvironment;
  readonly paths: AppPaths;
}

/** For importing PyTorch from a slow disk and compiling kernels, and what a check needs beside that. */
const START_MS = 300_000;
/** Enough for a model of the published size in FP32, loaded from a slow disk, on a slow processor. */
const WITH_MODEL_MS = 60 * 60_000;

/**
 * Runs a check and stores its results. A device that gives none is a result of a check without a model, and an
 * error of one with a model.
 */
export async function runCheck(place: CheckPlace, check: Check): Promise<Result<CheckResult[]>> {
  const { check: name } = check;
  const one = name === 'precision' ? check.devices.slice(0, 1) : check.devices;
  const devices = name === 'controls' ? firstOfEachKind(check.devices) : one;
  const found: Result<CheckResult[]>[] = [];
  // The small encoder can be tried on all devices at once; else they would share power and memory.
  const tried = name === 'devices' ? devices.map((device) => checkDevice(place, check, device)) : [];
  for (const [index, device] of devices.entries()) {
    check.onDevice?.(device.name, index + 1, devices.length);
    found.push(await (tried[index] ?? checkDevice(place, check, device)));
    if (check.signal?.aborted) return failWith('usage', 'The check was stopped.');
  }
  const results: CheckResult[] = [];
  for (const one of found) {
    if (!one.ok) return one;
    results.push(...one.value);
  }
  await keepResults(place.paths, results);
  return ok(results);
}

async function checkDevice(
  { environment, paths }: CheckPlace,
  check: Check,
  device: ChosenDevice,
): Promise<Result<CheckResult[]>> {
  const { run = runCommand, signal, model, quick = false, inputs = [], seconds = 60 } = check;
  const asked = check.precision ?? preferredPrecision(device);
  const triesAll = check.check === 'devices' || check.check === 'precision';
  const precisions = triesAll ? possiblePrecisions(device) : [asked];
  const args = {
    devices: [],
    speed: ['--seconds', String(seconds)],
    controls: ['--resources', paths.resources, ...(quick ? ['--quick'] : [])],
    precision: ['--input', ...(inputs.length > 0 ? inputs : [join(paths.resources, 'example.fa')])],
  }[check.check];
  const words = [check.check, device.kind, precisions.join(','), ...args];
  const begin = performance.now();
  const outcome = await run({
    ...pythonLaunch(
      environment,
      'virnucpro_backend.check',
      [...words, ...(model ? ['--model', model.folder] : [])],
      workerEnvironment(device),
    ),
    timeoutMs: model ? WITH_MODEL_MS : START_MS + 1000 * seconds,
    signal,
  });
  const about = {
    model: model?.hash ?? null,
    device: { id: device.id, kind: device.kind, name: device.name },
    checkedAt: new Date().toISOString(),
    seconds: (performance.now() - begin) / 1000,
    driver: check.driver,
    pytorch: environment.packages['torch'] ?? null,
  };
  const result = (report: CheckReport, sentences: Message[]): CheckResult => ({
    ...about,
    ...report,
    ...inSequence(sentences),
  });
  const named = z.preprocess((one) => ({ ...(one as object), check: check.check }), reportSchema);
  const reports = outcome.ending === 'succeeded' ? parseJson(z.array(named), outcome.stdout) : undefined;
  if (reports) return ok(reports.map((report) => result(report, wordsOf(report, device.kind))));
  const line = outcome.stderr.trim().split('\n').at(-1) ?? '';
  const lost =
    outcome.ending === 'timed_out'
      ? message('check.computing.no_answer')
      : message('check.computing.broke_off', { line });
  if (model) return failWith('usage', lost);
  const none = { check: check.check, verdict: 'no_answer', figures: null, problem: lost.text } as const;
  return ok(precisions.map((precision) => result({ ...none, precision }, [lost])));
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
 * Replaces what is stored under a name. If it can't be written, a check is simply repeated the next time.
 */
export function keep(paths: AppPaths, name: string, change: (before: unknown) => unknown): Promise<void> {
  const file = keptFile(paths);
  writing = writing
    .then(() => mkdir(dirname(file), { recursive: true }))
    .then(async () => {
      const all = await readAll(paths);
      writeJson(file, { ...all, [name]: change(all[name]) });
    })
    .catch(() => undefined);
  return writing;
}

const RESULTS = 'results';
const resultsSchema = z.array(checkResultSchema).catch([]);

const isQuick = (one: CheckResult): boolean => one.check === 'controls' && one.figures?.panel.quick === true;

/** Results replace those of the same check with the same model; with a model, only on the same device. */
export function keepResults(paths: AppPaths, results: readonly CheckResult[]): Promise<void> {
  const key = (one: CheckResult) =>
    [one.check, ...(one.model ? [one.model, one.device.id, one.precision, isQuick(one)] : [])].join(' ');
  const replaced = new Set(results.map(key));
  return keep(paths, RESULTS, (before) => [
    ...results,
    ...resultsSchema.parse(before).filter((one) => !replaced.has(key(one))),
  ]);
}

/** The last results, newest first, and what has changed since that may affect them. */
export async function lastResults(
  { environment, paths }: CheckPlace,
  driver: string | null,
): Promise<LastResult[]> {
  const kept = (await readKept(paths, RESULTS, resultsSchema)) ?? [];
  const panels = new Map<string, string | null>();
  for (const { check, figures } of kept)
    if (check === 'controls' && figures && !panels.has(figures.panel.file)) {
      const file = join(paths.resources, 'controls', basename(figures.panel.file));
      panels.set(figures.panel.file, await hashFile(file).catch(() => null));
    }
  const changed = (one: CheckResult): Outdated | null => {
    if (one.pytorch !== (environment.packages['torch'] ?? null)) return 'pytorch';
    if (one.device.kind !== 'cpu' && one.driver !== driver) return 'driver';
    const panel = one.check === 'controls' ? one.figures?.panel : undefined;
    return panel && panel.sha256 !== panels.get(panel.file) ? 'panel' : null;
  };
  return kept.map((one) => ({ ...one, outdated: changed(one) }));
}
