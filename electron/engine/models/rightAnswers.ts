/** Whether installed weights give the known answers on this computer's devices, and whether that is still known. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { appError } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { precisionSchema, type ProbeResult } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import {
  answersSchema,
  type Answers,
  type AnswersOutdated,
  type DeviceAnswers,
} from '../../contract/rpc/computer.ts';
import { devicesToCheck } from '../devices/checkDevices.ts';
import { possiblePrecisions } from '../devices/choosePrecision.ts';
import { workerEnvironment, type ChosenDevice } from '../devices/chosenDevice.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { replaceFile } from '../files/replaceFile.ts';
import type { ResolvedModel } from './resolvedModel.ts';

const reportSchema = z.object({
  type: z.literal('right_answers'),
  against: z.enum(['original_tool', 'stored', 'processor']),
  source: z.string(),
  results: z.array(
    z.object({
      precision: precisionSchema,
      score_difference: z.number().nullable(),
      norm_difference: z.number().nullable(),
      problem: z.string().nullable(),
    }),
  ),
});
type Report = z.infer<typeof reportSchema>;

/** What the answers depend on: another weight, driver, PyTorch or device may give others. */
const identitySchema = z.object({
  model: z.string(),
  driver: z.string().nullable(),
  pytorch: z.string().nullable(),
  devices: z.array(z.string()),
});
type Identity = z.infer<typeof identitySchema>;

const storedSchema = z.object({ identity: identitySchema, answers: answersSchema });

/** ESM-2 3B in FP32 from a slow disk onto a slow processor, once per precision. */
const TIMEOUT_MS = 60 * 60_000;

interface AnswersOptions {
  readonly onDevice?: (name: string, number: number, count: number) => void;
  readonly signal?: AbortSignal;
  readonly run?: CommandRunner;
}

/** Lets each device compute the known frames in each of its precisions, one after the other, and keeps the outcome. */
export async function checkAnswers(
  environment: PythonEnvironment,
  paths: AppPaths,
  probe: ProbeResult,
  model: ResolvedModel,
  { onDevice, signal, run = runCommand }: AnswersOptions = {},
): Promise<Result<Answers>> {
  const devices = devicesToCheck(probe);
  const checked: DeviceAnswers[] = [];
  let known: Pick<Report, 'against' | 'source'> = { against: 'processor', source: '' };
  for (const [number, device] of devices.entries()) {
    onDevice?.(device.name, number + 1, devices.length);
    const outcome = await checkDevice(environment, paths, model, device, { signal, run });
    if (signal?.aborted) return err(appError('usage', 'The check was stopped.'));
    if (outcome.report) known = outcome.report;
    checked.push(outcome.device);
  }
  const { against, source } = known;
  const answers: Answers = { against, source, checkedAt: new Date().toISOString(), devices: checked };
  await store(paths, model, { identity: identityOf(environment, probe, model), answers });
  return ok(answers);
}

/** What the last check of a model said, and what has changed since; null where it was never checked. */
export async function lastAnswers(
  environment: PythonEnvironment,
  paths: AppPaths,
  probe: ProbeResult,
  model: ResolvedModel,
): Promise<{ answers: Answers; outdated: AnswersOutdated | null } | null> {
  const text = await readFile(storedFile(paths, model), 'utf8').catch(() => undefined);
  const stored = text === undefined ? undefined : parseJson(storedSchema, text);
  if (!stored) return null;
  const now = identityOf(environment, probe, model);
  const { identity, answers } = stored;
  return { answers, outdated: changed(identity, now) };
}

export function describeAnswers({ against, devices }: Answers): string[] {
  return devices.flatMap(({ name, precisions }) =>
    precisions.map(({ precision, problem, scoreDifference, normDifference }) => {
      const where = `${name}, ${precision.toUpperCase()}`;
      if (problem !== null) return `${where}: wrong or missing answers. ${problem}`;
      const differences = [
        ...(scoreDifference === null ? [] : [`scores within ${scoreDifference.toExponential(1)}`]),
        ...(normDifference === null ? [] : [`norms within ${(100 * normDifference).toPrecision(2)} %`]),
      ].join(', ');
      const asWhat = {
        original_tool: 'gives the answers of the original tool',
        stored:
          'gives the stored answers of the demo model: it computes rightly, which says nothing of biology',
        processor: 'agrees with the processor; no known answers exist for this model',
      }[against];
      return `${where}: ${asWhat} (${differences}).`;
    }),
  );
}

function changed(then: Identity, now: Identity): AnswersOutdated | null {
  if (then.model !== now.model) return 'model';
  if (then.driver !== now.driver) return 'driver';
  if (then.pytorch !== now.pytorch) return 'pytorch';
  return then.devices.join('\n') === now.devices.join('\n') ? null : 'devices';
}

async function checkDevice(
  environment: PythonEnvironment,
  paths: AppPaths,
  model: ResolvedModel,
  device: ChosenDevice,
  { signal, run }: { signal: AbortSignal | undefined; run: CommandRunner },
): Promise<{ device: DeviceAnswers; report: Report | undefined }> {
  const precisions = possiblePrecisions(device);
  const outcome = await run({
    ...pythonLaunch(
      environment,
      'virnucpro_backend.right_answers',
      [
        device.kind,
        precisions.join(','),
        '--model',
        model.planModel.folder,
        '--reference',
        join(paths.resources, 'reference-answers.json'),
      ],
      workerEnvironment(device),
    ),
    timeoutMs: TIMEOUT_MS,
    ...(signal ? { signal } : {}),
  });
  const report = outcome.ending === 'succeeded' ? parseJson(reportSchema, outcome.stdout) : undefined;
  const lost =
    outcome.ending === 'timed_out'
      ? 'It gave no answer within an hour.'
      : `The computation broke off. ${outcome.stderr.trim().split('\n').at(-1) ?? ''}`.trim();
  return {
    report,
    device: {
      id: device.id,
      name: device.name,
      precisions:
        report?.results.map(({ precision, problem, score_difference, norm_difference }) => ({
          precision,
          scoreDifference: score_difference,
          normDifference: norm_difference,
          problem,
        })) ??
        precisions.map((precision) => ({
          precision,
          scoreDifference: null,
          normDifference: null,
          problem: lost,
        })),
    },
  };
}

function identityOf(environment: PythonEnvironment, probe: ProbeResult, model: ResolvedModel): Identity {
  return {
    model: model.planModel.hash,
    driver: probe.driver_version,
    pytorch: environment.packages['torch'] ?? null,
    devices: devicesToCheck(probe).map(({ id }) => id),
  };
}

/** By the model's folder, so that other weights in it are seen as a change. */
function storedFile(paths: AppPaths, { planModel }: ResolvedModel): string {
  const name = planModel.folder.replaceAll(/[^A-Za-z0-9]+/g, '_').slice(-100);
  return join(paths.dataDir, 'answers', `${name}.json`);
}

async function store(
  paths: AppPaths,
  model: ResolvedModel,
  content: z.infer<typeof storedSchema>,
): Promise<void> {
  const file = storedFile(paths, model);
  const temporary = `${file}.${process.pid}.tmp`;
  await mkdir(dirname(file), { recursive: true })
    .then(() => writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`))
    .then(() => replaceFile(temporary, file))
    // It is checked again the next time.
    .catch(() => undefined);
}
