import { resultsOf, type ResultOf } from '../../../contract/checks.ts';
import { appError, asAppError, causeOf, type AppError } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { Precision } from '../../../contract/protocol/index.ts';
import { type PlanModel, TOKENS_PER_BATCH } from '../../../contract/plan.ts';
import type { RunEstimate, RunRequest } from '../../../contract/rpc/runs.ts';
import { freeBytes } from '../../devices/computerChecks.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { checkPrecision } from '../../devices/check/trial.ts';
import { lastResults } from '../../devices/check/check.ts';
import type { EngineContext } from '../../run/engineContext.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import type { ResolvedModel } from '../../models/modelFolder.ts';
import { chooseDevices, precisionOf, workOf, type PlannedDevices } from '../../run/begin/chooseDevices.ts';
import {
  asInEarlier,
  type EarlierRun,
  givesParts,
  readEarlier,
  workTakenOver,
} from '../../run/begin/earlierRun.ts';
import { diskNeeded, diskShortage } from '../../run/begin/checkReadiness.ts';
import { checkRunFolder } from '../../store/runFolder.ts';
import type { SecondsRange, WorkAhead } from './runSpeeds.ts';
import type { SpeedHistory } from './speedHistory.ts';

interface EstimateQuestion {
  request: RunRequest;
  chunks: number;
  /** Number of frames from the inspection. */
  frames: number;
  residues: number;
  /** The folder for the results. */
  folder: string;
  /** SHA-256 of the files that will be used, in their order. */
  contents: () => Promise<string[]>;
}

interface EnvironmentInUse {
  context: () => Promise<EngineContext>;
}

/** Estimates a run's time and disk space before it is created, and reports what prevents it. */
export async function estimateRun(
  question: EstimateQuestion,
  pythonEnvironment: EnvironmentInUse,
  speeds: SpeedHistory,
): Promise<RunEstimate> {
  const { request, folder } = question;
  const choice = await chooseModelAndDevices(request, pythonEnvironment);
  const ahead = choice.ok ? await workAhead(question, choice) : null;
  const diskBytes = diskNeeded(request, question);
  const diskFreeBytes = await freeBytes(folder);
  const inTheWay =
    (choice.ok ? undefined : choice.error) ??
    (await folderBlocker(folder, request.force)) ??
    diskShortage(folder, diskBytes, diskFreeBytes);
  const speed =
    choice.ok && ahead
      ? await secondsMeasured(
          { ...choice.context, speeds },
          choice.model.planModel,
          ahead,
          choice.devices,
          choice.precision,
        )
      : null;
  return {
    computation: choice.ok
      ? {
          precision: choice.precision,
          ...workOf(choice.asked, choice, question.residues),
          // Workers of one processor are one device to the user.
          devices: [...Map.groupBy(choice.devices, ({ name }) => name)].map(([name, same]) => ({
            name,
            count: same[0]?.kind === 'cpu' ? 1 : same.length,
          })),
        }
      : null,
    seconds: speed && { low: speed.low, high: speed.high },
    basis: speed && { runs: speed.runs, measuredAt: new Date(speed.measuredAt).toISOString() },
    diskBytes,
    diskFreeBytes,
    outputDir: folder,
    blocker: inTheWay ?? null,
  };
}

/** What is left to compute; null if that is not known before the embeddings of the original tool are read. */
async function workAhead(
  { request, frames, residues, contents }: EstimateQuestion,
  { earlier }: ChosenMeans,
): Promise<WorkAhead | null> {
  if (earlier === null) return request.reuseEmbeddings === undefined ? { frames, residues } : null;
  const taken = workTakenOver(earlier, await contents());
  return {
    frames: Math.max(0, frames - taken.frames),
    residues: Math.max(0, residues - taken.residues),
  };
}

interface Speed extends SecondsRange {
  /** Null if only the check measured the speed, and no run did. */
  runs: number | null;
  measuredAt: number | string;
}

/** Estimates from earlier runs of the model on these devices; without any, from the measured speed. */
export async function secondsMeasured(
  {
    environment,
    paths,
    speeds,
  }: Pick<EngineContext, 'environment' | 'paths'> & {
    speeds: SpeedHistory | null;
  },
  model: PlanModel,
  { frames, residues }: WorkAhead,
  devices: readonly ChosenDevice[],
  precision: string,
): Promise<Speed | null> {
  const deviceNames = devices.map(({ name }) => name);
  const fromRuns = speeds?.seconds({ modelHash: model.hash, precision, deviceNames, frames, residues });
  // The teaching model is far smaller than the encoders that the check measures.
  if (fromRuns || model.notice !== null) return fromRuns ?? null;
  const results = await lastResults({ environment, paths }, null);
  const kept = resultsOf(results, 'speed').filter(({ outdated }) => outdated !== 'pytorch');
  const range = secondsFromBenchmark(residues, devices, precision, kept);
  const [newest] = kept;
  return range && newest ? { ...range, runs: null, measuredAt: newest.checkedAt } : null;
}

interface ChosenMeans extends PlannedDevices {
  ok: true;
  context: EngineContext;
  model: ResolvedModel;
  precision: Precision;
  earlier: EarlierRun | null;
  /** The request, with what an earlier run decides. */
  asked: RunRequest;
}

type Means = ChosenMeans | { ok: false; error: AppError };

async function chooseModelAndDevices(
  request: RunRequest,
  pythonEnvironment: EnvironmentInUse,
): Promise<Means> {
  try {
    const context = await pythonEnvironment.context();
    const model = await resolveModel(request.model, context.paths);
    if (!model.ok) return model;
    const choice = await chooseDevices(context, request, model.value);
    if (!choice.ok) return choice;
    const { devices } = choice.value;
    const earlier = await readEarlier(context, request.reuseEmbeddings);
    if (!earlier.ok) return earlier;
    const asked = asInEarlier(request, earlier.value);
    const precision = precisionOf(asked.precision, choice.value);
    if (!precision.ok) return precision;
    const { planModel: planned, chunkLength: usual } = model.value;
    const { chunkLength = usual } = request;
    const plan = { ...asked, model: planned, chunkLength, precision: precision.value };
    const gives = givesParts(earlier.value, plan);
    if (!gives.ok) return gives;
    const checked = await checkPrecision(context, planned, precision.value, devices);
    if (!checked.ok) return checked;
    const means = { model: model.value, precision: precision.value, earlier: earlier.value, asked };
    return { ok: true, context, ...choice.value, ...means };
  } catch (reason) {
    return { ok: false, error: asAppError(reason) };
  }
}

async function folderBlocker(folder: string, force: boolean): Promise<AppError | undefined> {
  const checked = await checkRunFolder(folder, force, []);
  if (checked.ok) return undefined;
  const { error } = checked;
  // The window has no option like --force.
  return error.code === 'folder_has_run'
    ? appError(error.code, causeOf(error), { nextStep: message('start.elsewhere_or_resume') })
    : error;
}

/** Residues of a frame of a 500-bp chunk, with which the benchmark measures DNABERT-S. */
const RESIDUES_OF_A_FRAME = 166;
/**
 * Workers of one processor share its clock and memory: on 16 cores, 16 of them reached 73 % (BF16) and 80 %
 * (FP32) of sixteen times the measured speed of a single worker.
 */
const SHARE_BESIDE_OTHERS = 0.76;
/** Uncertainty from reading files, writing, other programs and heat. */
const DOUBT = 0.3;

/**
 * Seconds that both encoders of the published sizes take together; null if a device was not measured in this
 * precision.
 */
export function secondsFromBenchmark(
  residues: number,
  devices: readonly Pick<ChosenDevice, 'kind' | 'name'>[],
  precision: string,
  measured: readonly Pick<ResultOf<'speed'>, 'device' | 'precision' | 'figures'>[],
): SecondsRange | null {
  if (devices.length === 0) return null;
  const besideOthers = devices.filter(({ kind }) => kind === 'cpu').length > 1 ? SHARE_BESIDE_OTHERS : 1;
  let rate = 0;
  for (const { kind, name } of devices) {
    // A run uses this batch size, whichever was the fastest.
    const tokens = TOKENS_PER_BATCH[kind === 'mps' ? 'apple' : kind === 'cpu' ? 'cpu' : 'gpu'];
    const distance = (one: { tokens_per_batch: number }) => Math.abs(Math.log(one.tokens_per_batch / tokens));
    const row = measured
      .filter((one) => one.device.name === name && one.precision === precision)
      .flatMap((one) => one.figures?.rows.toSorted((a, b) => distance(a) - distance(b))[0] ?? [])[0];
    if (!row) return null;
    const secondsPerResidue =
      1 / row.esm2_residues_per_second + 1 / (RESIDUES_OF_A_FRAME * row.dnabert_s_frames_per_second);
    rate += (kind === 'cpu' ? besideOthers : 1) / secondsPerResidue;
  }
  if (!(rate > 0)) return null;
  const seconds = residues / rate;
  return { low: seconds * (1 - DOUBT), high: seconds * (1 + DOUBT) };
}
