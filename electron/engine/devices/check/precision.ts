/**
 * Measures how much accuracy each precision of a model loses, and decides which precisions a run may use only
 * after such a measurement.
 */
import { join } from 'node:path';
import { ok, type Result, failWith } from '../../../contract/errors.ts';
import { EXAMPLE_FILE, type PlanModel } from '../../../contract/plan.ts';
import type { Precision } from '../../../contract/protocol/index.ts';
import { precisionCheckSchema, type PrecisionCheck } from '../../../contract/rpc/computer.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { possiblePrecisions } from '../choosePrecision.ts';
import type { ChosenDevice } from '../chosenDevice.ts';
import { checkModel, keep, readKept, type CheckOptions } from './check.ts';

/**
 * Precisions that lose so much accuracy that a run may use them only after they were measured with the very
 * same model.
 */
const MEASURED_FIRST: ReadonlySet<Precision> = new Set(['fp8']);

const reportSchema = precisionCheckSchema.omit({ checkedAt: true, deviceName: true });

const keptName = (modelHash: string): string => `precision ${modelHash}`;

/** Measures on the first device, with these sequences or those of the example, and stores the result. */
export async function checkPrecisions(
  environment: PythonEnvironment,
  paths: AppPaths,
  devices: readonly ChosenDevice[],
  model: PlanModel,
  { inputs = [], onDevice, ...options }: CheckOptions & { readonly inputs?: readonly string[] },
): Promise<Result<PrecisionCheck>> {
  const [device] = devices;
  if (!device) return failWith('usage', 'There is no device to check.');
  onDevice?.(device.name, 1, 1);
  const measured = inputs.length > 0 ? inputs : [join(paths.resources, EXAMPLE_FILE)];
  const args = [possiblePrecisions(device).join(','), '--model', model.folder, '--input', ...measured];
  const checked = await checkModel(environment, device, ['precision', ...args], reportSchema, options);
  if (!checked.ok) return checked;
  const check = { ...checked.value, checkedAt: new Date().toISOString(), deviceName: device.name };
  await keepPrecisions(paths, model.hash, check);
  return ok(check);
}

export async function keepPrecisions(
  paths: AppPaths,
  modelHash: string,
  check: PrecisionCheck,
): Promise<void> {
  await keep(paths, keptName(modelHash), check);
}

/** The last measurement of a model; null if there is none. */
export async function lastPrecisions(paths: AppPaths, modelHash: string): Promise<PrecisionCheck | null> {
  return (await readKept(paths, keptName(modelHash), precisionCheckSchema)) ?? null;
}

/** Whether a run may use a precision with a model on these devices. */
export async function checkPrecision(
  paths: AppPaths,
  modelHash: string,
  precision: Precision,
  devices: readonly ChosenDevice[],
): Promise<Result<void>> {
  if (!MEASURED_FIRST.has(precision)) return ok(undefined);
  const name = precision.toUpperCase();
  const refuse = (cause: string, nextStep: string) => failWith('precision_unsupported', cause, { nextStep });
  const check = await lastPrecisions(paths, modelHash);
  const unmeasured = devices.find((device) => device.name !== check?.deviceName);
  if (!check || unmeasured) {
    return refuse(
      `${name} has not been checked with this model${unmeasured ? ` on ${unmeasured.name}` : ''}.`,
      'Run "virnucpro check precision" with this model first, or choose another precision.',
    );
  }
  const verdict = check.precisions[precision]?.verdict;
  if (verdict?.offered) return ok(undefined);
  const reason = verdict?.reason ?? check.not_possible[precision] ?? 'it was left out of the check';
  return refuse(`${name} did not pass the check with this model: ${reason}.`, 'Choose another precision.');
}
