/**
 * Tests whether an installed model gives the known answers on this computer's devices, and whether the last
 * result still applies.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { ok, type Result, failWith } from '../../../contract/errors.ts';
import type { PlanModel } from '../../../contract/plan.ts';
import { precisionSchema, type ProbeResult } from '../../../contract/protocol/index.ts';
import {
  answersSchema,
  type Answers,
  type AnswersOutdated,
  type DeviceAnswers,
} from '../../../contract/rpc/computer.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { possiblePrecisions } from '../choosePrecision.ts';
import { devicesToTest, keep, readKept, testDevice, type LevelOptions } from './selfTest.ts';

const reportSchema = answersSchema.pick({ against: true, source: true }).extend({
  results: z.array(
    z.object({
      precision: precisionSchema,
      score_difference: z.number().nullable(),
      norm_difference: z.number().nullable(),
      problem: z.string().nullable(),
    }),
  ),
});

/**
 * What the answers depend on: they may differ with other weights, or with another driver, PyTorch or device.
 */
const identitySchema = z.object({
  model: z.string(),
  driver: z.string().nullable(),
  pytorch: z.string().nullable(),
  devices: z.array(z.string()),
});
type Identity = z.infer<typeof identitySchema>;

const keptSchema = z.object({ identity: identitySchema, answers: answersSchema });

/** Enough for ESM-2 3B in FP32, loaded from a slow disk, on a slow processor, once per precision. */
const TIMEOUT_MS = 60 * 60_000;

/** Results are stored under the model's folder, so that other weights in it are noticed as a change. */
const keptName = ({ folder }: PlanModel): string => `model ${folder}`;

/**
 * Lets each device compute the known frames in each of its precisions, one device after the other, and stores
 * the results.
 */
export async function checkAnswers(
  environment: PythonEnvironment,
  paths: AppPaths,
  probe: ProbeResult,
  model: PlanModel,
  { onDevice, ...options }: LevelOptions = {},
): Promise<Result<Answers>> {
  const devices = devicesToTest(probe);
  const reference = join(paths.resources, 'reference-answers.json');
  const checked: DeviceAnswers[] = [];
  let known: Pick<Answers, 'against' | 'source'> = { against: 'processor', source: '' };
  for (const [number, device] of devices.entries()) {
    onDevice?.(device.name, number + 1, devices.length);
    const precisions = possiblePrecisions(device);
    const level = ['model', precisions.join(','), '--model', model.folder, '--reference', reference] as const;
    const tested = await testDevice(environment, device, level, reportSchema, TIMEOUT_MS, options);
    if (options.signal?.aborted) return failWith('usage', 'The check was stopped.');
    const { id, name } = device;
    if (tested.report) {
      const { against, source, results } = tested.report;
      known = { against, source };
      const answers = results.map(({ precision, problem, score_difference, norm_difference }) => ({
        precision,
        scoreDifference: score_difference,
        normDifference: norm_difference,
        problem,
      }));
      checked.push({ id, name, precisions: answers });
    } else {
      const lost = { scoreDifference: null, normDifference: null, problem: tested.lost.text.trim() };
      checked.push({ id, name, precisions: precisions.map((precision) => ({ precision, ...lost })) });
    }
  }
  const answers: Answers = { ...known, checkedAt: new Date().toISOString(), devices: checked };
  await keep(paths, keptName(model), { identity: identityOf(environment, probe, model), answers });
  return ok(answers);
}

/** The results of a model's last check, and what has changed since; null if it was never checked. */
export async function lastAnswers(
  environment: PythonEnvironment,
  paths: AppPaths,
  probe: ProbeResult,
  model: PlanModel,
): Promise<{ answers: Answers; outdated: AnswersOutdated | null } | null> {
  const kept = await readKept(paths, keptName(model), keptSchema);
  if (!kept) return null;
  return { answers: kept.answers, outdated: changed(kept.identity, identityOf(environment, probe, model)) };
}

function identityOf(environment: PythonEnvironment, probe: ProbeResult, model: PlanModel): Identity {
  return {
    model: model.hash,
    driver: probe.driver_version,
    pytorch: environment.packages['torch'] ?? null,
    devices: devicesToTest(probe).map(({ id }) => id),
  };
}

function changed(then: Identity, now: Identity): AnswersOutdated | null {
  if (then.model !== now.model) return 'model';
  if (then.driver !== now.driver) return 'driver';
  if (then.pytorch !== now.pytorch) return 'pytorch';
  return then.devices.join('\n') === now.devices.join('\n') ? null : 'devices';
}
