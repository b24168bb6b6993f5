/**
 * Tests whether a model distinguishes known viral from known host sequences, on each kind of device that a
 * run would use.
 */
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ok, type Result } from '../../../contract/errors.ts';
import type { PlanModel } from '../../../contract/plan.ts';
import type { Precision } from '../../../contract/protocol/index.ts';
import {
  controlsSchema,
  type Controls,
  type ControlsOutdated,
  type LastControls,
} from '../../../contract/rpc/computer.ts';
import { hashFile } from '../../system/hashFile.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { preferredPrecision } from '../choosePrecision.ts';
import type { ChosenDevice } from '../chosenDevice.ts';
import { checkModel, keep, readKept, type CheckOptions } from './check.ts';

const reportSchema = controlsSchema.omit({
  ...{ checkedAt: true, seconds: true, kind: true, deviceName: true, driver: true, pytorch: true },
});

/**
 * The size of the panel for models of this chunk length: sequences of one chunk each, and their open reading
 * frames.
 */
export function panelOf(chunkLength: number): { chunks: number; frames: number; residues: number } {
  return chunkLength >= 500
    ? { chunks: 260, frames: 311, residues: 51_626 }
    : { chunks: 260, frames: 371, residues: 36_853 };
}

const keptName = (modelHash: string): string => `controls ${modelHash}`;

interface ControlsOptions extends CheckOptions {
  /** By default, each device's own. */
  readonly precision?: Precision | undefined;
  /** Only 20 viral and 20 host sequences. */
  readonly quick?: boolean;
  /** The driver of the GPUs, as the probe found it. */
  readonly driver: string | null;
}

/** A run treats all devices of a kind alike. */
export function firstOfEachKind(devices: readonly ChosenDevice[]): ChosenDevice[] {
  return devices.filter((device, i) => devices.findIndex(({ kind }) => kind === device.kind) === i);
}

/** Runs the panel on the first device of each kind, and stores the results. */
export async function runControls(
  environment: PythonEnvironment,
  paths: AppPaths,
  devices: readonly ChosenDevice[],
  model: PlanModel,
  { precision, quick = false, driver, onDevice, ...options }: ControlsOptions,
): Promise<Result<Controls[]>> {
  const ofEachKind = firstOfEachKind(devices);
  const pytorch = pytorchOf(environment);
  const found: Controls[] = [];
  for (const [index, device] of ofEachKind.entries()) {
    onDevice?.(device.name, index + 1, ofEachKind.length);
    const panel = ['--model', model.folder, '--resources', paths.resources, ...(quick ? ['--quick'] : [])];
    const check = ['controls', precision ?? preferredPrecision(device), ...panel] as const;
    const begin = performance.now();
    const checked = await checkModel(environment, device, check, reportSchema, options);
    if (!checked.ok) return checked;
    const { kind, name: deviceName } = device;
    const seconds = (performance.now() - begin) / 1000;
    const checkedAt = new Date().toISOString();
    found.push({ ...checked.value, checkedAt, seconds, kind, deviceName, driver, pytorch });
  }
  const before = (await keptControls(paths, model.hash)).filter(
    (one) => !found.some((other) => keyOf(other) === keyOf(one)),
  );
  await keep(paths, keptName(model.hash), [...found, ...before]);
  return ok(found);
}

const keyOf = ({ kind, precision, panel }: Controls): string => `${kind} ${precision} ${panel.quick}`;

async function keptControls(paths: AppPaths, modelHash: string): Promise<Controls[]> {
  return (await readKept(paths, keptName(modelHash), z.array(controlsSchema))) ?? [];
}

/**
 * The last controls of a model, for each kind of device and precision that it was checked with, newest first;
 * and what has changed since that may affect a device's results.
 */
export async function lastControls(
  { environment, paths }: { environment: PythonEnvironment; paths: AppPaths },
  driver: string | null,
  modelHash: string,
): Promise<LastControls[]> {
  const kept = await keptControls(paths, modelHash);
  const panels = new Map<string, string | null>();
  for (const { panel } of kept)
    if (!panels.has(panel.file))
      panels.set(
        panel.file,
        await hashFile(join(paths.resources, 'controls', basename(panel.file))).catch(() => null),
      );
  const changed = (one: Controls): ControlsOutdated | null => {
    if (one.kind !== 'cpu' && one.driver !== driver) return 'driver';
    if (one.pytorch !== pytorchOf(environment)) return 'pytorch';
    return one.panel.sha256 === panels.get(one.panel.file) ? null : 'panel';
  };
  return kept.map((one) => ({ ...one, outdated: changed(one) }));
}

function pytorchOf({ packages }: PythonEnvironment): string | null {
  return packages['torch'] ?? null;
}
