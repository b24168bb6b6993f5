/**
 * Measures how much accuracy each precision of a model loses, and decides which precisions a run may use only
 * after such a measurement.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { ok, type Result, failWith } from '../../../contract/errors.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import type { PlanModel } from '../../../contract/plan.ts';
import type { Precision } from '../../../contract/protocol/index.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import { pythonLaunch, type PythonEnvironment } from '../../environment/pythonLaunch.ts';
import type { ChosenDevice } from '../chosenDevice.ts';
import { keep, readKept, SELF_TEST } from './selfTest.ts';

/**
 * Precisions that lose so much accuracy that a run may use them only after they were measured with the very
 * same model.
 */
const MEASURED_FIRST: ReadonlySet<Precision> = new Set(['fp8']);

const reportSchema = z.looseObject({
  device: z.object({ name: z.string() }),
  precisions: z.record(
    z.string(),
    z.looseObject({ verdict: z.object({ offered: z.boolean(), reason: z.string() }).nullable() }),
  ),
  not_possible: z.record(z.string(), z.string()),
});
export type PrecisionReport = z.infer<typeof reportSchema>;

const keptName = (modelHash: string): string => `precision ${modelHash}`;

/**
 * Measures on the terminal, where the table appears, and stores the report; null if the measurement failed.
 */
export async function measurePrecisions(
  environment: PythonEnvironment,
  paths: AppPaths,
  model: PlanModel,
  inputs: readonly string[],
  { quiet }: { quiet: boolean },
): Promise<PrecisionReport | null> {
  await mkdir(paths.dataDir, { recursive: true });
  const file = join(paths.dataDir, `selftest-precision.${process.pid}.json`);
  const measured = inputs.length > 0 ? inputs : [join(paths.resources, 'example.fa')];
  const args = ['precision', '--model', model.folder, '--json', file, '--input', ...measured];
  const launch = pythonLaunch(environment, SELF_TEST, args);
  try {
    const { exitCode } = await execa(launch.file, launch.args, {
      env: launch.env,
      extendEnv: false,
      stdio: ['inherit', quiet ? 'ignore' : 'inherit', 'inherit'],
      reject: false,
    });
    const report = exitCode === 0 ? parseJson(reportSchema, await readFile(file, 'utf8')) : undefined;
    if (report) await keepPrecisions(paths, model.hash, report);
    return report ?? null;
  } finally {
    await rm(file, { force: true });
  }
}

export async function keepPrecisions(paths: AppPaths, modelHash: string, report: unknown): Promise<void> {
  await keep(paths, keptName(modelHash), report);
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
  const report = await readKept(paths, keptName(modelHash), reportSchema);
  const unmeasured = devices.find((device) => device.name !== report?.device.name);
  if (!report || unmeasured) {
    return refuse(
      `${name} has not been tested with this model${unmeasured ? ` on ${unmeasured.name}` : ''}.`,
      'Run "virnucpro selftest precision" with this model first, or choose another precision.',
    );
  }
  const verdict = report.precisions[precision]?.verdict;
  if (verdict?.offered) return ok(undefined);
  const reason = verdict?.reason ?? report.not_possible[precision] ?? 'it was left out of the test';
  return refuse(
    `${name} did not pass the self-test with this model: ${reason}.`,
    'Choose another precision.',
  );
}
