import { appError, asAppError, causeOf, type AppError } from '../../../contract/errors.ts';
import { bytesNamed, message } from '../../../contract/messages.ts';
import type { RunEstimate, RunRequest } from '../../../contract/rpc/runs.ts';
import { freeBytes } from '../../devices/computerChecks.ts';
import { choosePrecision } from '../../devices/choosePrecision.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import type { ResolvedModel } from '../../models/resolvedModel.ts';
import { chooseDevices } from '../../run/begin/chooseDevices.ts';
import { checkRunFolder } from '../../store/runFolder.ts';
import type { PythonEnvironmentManager } from '../computer/pythonEnvironmentManager.ts';
import type { SpeedHistory } from './speedHistory.ts';
import { formatBytes } from '../../format/format.ts';

export interface EstimateQuestion {
  request: RunRequest;
  chunks: number;
  /** As told by the inspection. */
  frames: number;
  residues: number;
  /** Where the results will go. */
  folder: string;
}

const BYTES = { perChunkInDatabase: 130, perChunkInTables: 90, perFrameInTables: 70, perFrameInWork: 30 };
const EMBEDDING_VALUES_PER_FRAME = 768 + 2560;
const DISK_MARGIN = 1.2;
const SMALLEST_RUN_BYTES = 1_000_000;

/** How long a run will take and how much room it needs, before it is made; and what is in its way. */
export async function estimateRun(
  question: EstimateQuestion,
  pythonEnvironment: PythonEnvironmentManager,
  speeds: SpeedHistory,
): Promise<RunEstimate> {
  const { request, folder } = question;
  const choice = await chooseModelAndDevices(request, pythonEnvironment);
  const diskBytes = diskNeeded(question);
  const diskFreeBytes = await freeBytes(folder);
  const inTheWay =
    (choice.ok ? undefined : choice.error) ??
    (await folderBlocker(folder, request.force)) ??
    diskBlocker(folder, diskBytes, diskFreeBytes);
  const speed = choice.ok
    ? speeds.seconds({
        modelHash: choice.model.planModel.hash,
        precision: choice.precision,
        deviceNames: choice.devices.map(({ name }) => name),
        frames: question.frames,
        residues: question.residues,
      })
    : null;
  return {
    seconds: speed && { low: speed.low, high: speed.high },
    basis: speed && { runs: speed.runs, measuredAt: new Date(speed.measuredAt).toISOString() },
    diskBytes,
    diskFreeBytes,
    outputDir: folder,
    blocker: inTheWay ?? null,
  };
}

type Means =
  | { ok: true; model: ResolvedModel; devices: ChosenDevice[]; precision: string }
  | { ok: false; error: AppError };

async function chooseModelAndDevices(
  request: RunRequest,
  pythonEnvironment: PythonEnvironmentManager,
): Promise<Means> {
  try {
    const context = await pythonEnvironment.context();
    const model = await resolveModel(request.model, context.paths);
    if (!model.ok) return model;
    const choice = await chooseDevices(context, request.devices, model.value);
    if (!choice.ok) return choice;
    const { devices } = choice.value;
    const precision = choosePrecision(request.precision, devices);
    if (!precision.ok) return precision;
    return { ok: true, model: model.value, devices, precision: precision.value };
  } catch (reason) {
    return { ok: false, error: asAppError(reason) };
  }
}

function diskNeeded({ request, chunks, frames, residues }: EstimateQuestion): number {
  const embeddings =
    request.embeddings === null ? 0 : EMBEDDING_VALUES_PER_FRAME * (request.embeddings === 'fp16' ? 2 : 4);
  const needed =
    chunks * (BYTES.perChunkInDatabase + BYTES.perChunkInTables) +
    frames * (BYTES.perFrameInTables + BYTES.perFrameInWork + embeddings) +
    // Residues and their nucleotides, until the run is done.
    residues * 4;
  return Math.round(SMALLEST_RUN_BYTES + needed * DISK_MARGIN);
}

async function folderBlocker(folder: string, force: boolean): Promise<AppError | undefined> {
  const checked = await checkRunFolder(folder, force, []);
  if (checked.ok) return undefined;
  const { error } = checked;
  // The window has no --force.
  return error.code === 'folder_has_run'
    ? appError(error.code, causeOf(error), { nextStep: message('start.folder_has_run.next') })
    : error;
}

function diskBlocker(folder: string, needed: number, free: number | null): AppError | undefined {
  if (free === null || free >= needed) return undefined;
  return appError(
    'disk_full',
    message('start.disk_needed', {
      needed: bytesNamed(needed, formatBytes(needed)),
      free: bytesNamed(free, formatBytes(free)),
      folder,
    }),
    { nextStep: message('start.disk_needed.next') },
  );
}
