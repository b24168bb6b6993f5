import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { appError } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { Precision } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { ChosenDevice } from '../devices/chosenDevice.ts';
import type { AppPaths } from '../environment/appPaths.ts';

/** Precisions that lose so much that a run may use them only after they were checked with the very model. */
const CHECKED_FIRST: ReadonlySet<Precision> = new Set(['fp8']);

const reportSchema = z.object({
  device: z.object({ name: z.string() }),
  precisions: z.record(
    z.string(),
    z.object({ verdict: z.object({ offered: z.boolean(), reason: z.string() }).nullable() }),
  ),
  not_possible: z.record(z.string(), z.string()).default({}),
});

/** Where the fidelity check of a model leaves its report. */
export function fidelityReport(paths: AppPaths, modelHash: string): string {
  return join(paths.dataDir, 'fidelity', `${modelHash}.json`);
}

/** Whether a run may use a precision with a model on these devices, by the model's own fidelity check. */
export async function checkFidelity(
  paths: AppPaths,
  modelHash: string,
  precision: Precision,
  devices: readonly ChosenDevice[],
): Promise<Result<void>> {
  if (!CHECKED_FIRST.has(precision)) return ok(undefined);
  const name = precision.toUpperCase();
  const refuse = (cause: string, nextStep: string) =>
    err(appError('precision_unsupported', cause, { nextStep }));
  const text = await readFile(fidelityReport(paths, modelHash), 'utf8').catch(() => undefined);
  const report = text === undefined ? undefined : parseJson(reportSchema, text);
  const unchecked = devices.find((device) => device.name !== report?.device.name);
  if (!report || unchecked) {
    return refuse(
      `${name} has not been checked with this model${unchecked ? ` on ${unchecked.name}` : ''}.`,
      'Run "virnucpro fidelity" with this model first, or choose another precision.',
    );
  }
  const verdict = report.precisions[precision]?.verdict;
  if (verdict?.offered) return ok(undefined);
  const reason = verdict?.reason ?? report.not_possible[precision] ?? 'it was left out of the check';
  return refuse(
    `${name} did not pass the fidelity check with this model: ${reason}.`,
    'Choose another precision.',
  );
}
