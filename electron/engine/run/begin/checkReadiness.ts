import {
  appError,
  errorOf,
  AppFailure,
  err,
  ok,
  type Result,
  type AppError,
  failWith,
} from '../../../contract/errors.ts';
import type { EngineContext } from '../engineContext.ts';
import { hashFile } from '../../system/hashFile.ts';
import { answerOf, openRegular, type Patience } from '../../system/regularFile.ts';
import { findModel } from '../../models/resolveModel.ts';
import type { StoredRun } from '../../store/types.ts';
import { chooseDevices, precisionOf, storedDevice, type DeviceChoice, type Wanted } from './chooseDevices.ts';
import { isRunFolder, makeWorkFolders } from '../../store/runFolder.ts';
import { nodeOf } from '../../store/shares.ts';
import type { Goal } from '../../../contract/goal.ts';
import { precisionRemark } from '../../devices/choosePrecision.ts';
import { isMadeHere } from '../madeHere.ts';
import { inputLeftOut } from '../runNotes.ts';
import type { RunRecord } from '../runRecord.ts';
import type { BatchSizes } from '../batchSizes.ts';
import { localDevice } from '../workDevice.ts';
import { isJustCreated, type CreatedRun } from './createRun.ts';
import { controlsAtBegin } from './runControls.ts';
import { said } from '../../../contract/problems.ts';
import { bytesNamed, message } from '../../../contract/messages.ts';
import { THIS_COMPUTER, type RunRequest, type Where } from '../../../contract/rpc/runs.ts';
import { freeBytes } from '../../devices/computerChecks.ts';
import { formatBytes } from '../../../contract/terminal/format.ts';

export interface StartOptions {
  /** Devices of this computer other than those that the run was created for. */
  devices?: string | undefined;
  /** A place other than the one that the run was created for. */
  where?: Where | undefined;
  /** Reads the inputs and then pauses: shares compute the parts. */
  preparesOnly?: boolean | undefined;
  /**
   * A goal to stop at, or null to compute everything; if absent, the last goal applies unless it was reached.
   */
  until?: Goal | null | undefined;
  /** For a run that this program has just created: the devices that were chosen and checked then. */
  created?: Pick<CreatedRun, 'choice' | 'createdAt'> | undefined;
}

/** The run is only being read, or is finished, so its devices do not matter. */
const NOWHERE_YET: Where = { kind: 'shares', on_processors: false };

/** Checks whether a run can start where these options, or its own request, say; repairs it if it is damaged. */
export async function readyToStart(
  context: EngineContext,
  run: RunRecord,
  { devices: wanted, where, created, preparesOnly }: StartOptions,
  signal: AbortSignal,
): Promise<Result<DeviceChoice>> {
  const { request, stored, notes, store } = run;
  const isOwn = created !== undefined || isMadeHere(context.paths, store.folder, stored.description);
  // A run that was created for shares is computed here when it is resumed.
  const usual = request.where.kind === 'shares' ? THIS_COMPUTER : request.where;
  const place: Where = preparesOnly ? NOWHERE_YET : isOwn ? usual : THIS_COMPUTER;
  if (where === undefined && wanted === undefined && !preparesOnly && place.kind !== usual.kind)
    notes.add('warning', 'place_not_followed', message('note.place_not_followed'));
  const ready = await checkReadiness(
    context,
    store.folder,
    stored,
    // Choosing devices of this computer means computing here.
    {
      where: where ?? (wanted === undefined ? place : THIS_COMPUTER),
      devices: wanted ?? request.devices,
    },
    created && isJustCreated(created) ? created.choice : undefined,
    { signal },
  );
  if (ready.ok) await repair(run);
  return ready;
}

/**
 * Repairs a run whose tables were refused, or exist but must be partly recomputed; otherwise damage is found
 * before tables appear.
 */
async function repair(run: RunRecord): Promise<void> {
  const { state, store } = run;
  await store.refuseDamagedPlan();
  // A share was already repaired when it was opened, from its run's list.
  if (nodeOf(run.stored) !== null) return;
  if (state.phase !== 'done' && !(state.phase === 'paused' && state.error?.code === 'run_damaged')) return;
  const found = await store.repairDamage();
  if (found.length === 0) return;
  run.notes.add('warning', 'rows_damaged', message('note.rows_damaged', { what: found.join(' ') }));
  await run.reload();
}

/** Reports facts about the devices that will compute. */
export async function announceStart(
  context: EngineContext,
  run: RunRecord,
  batches: BatchSizes,
  { devices, leftOut, cores, driver = null }: DeviceChoice,
): Promise<void> {
  const { request, notes, stored } = run;
  const isFirst = run.state.phase === 'created';
  for (const remark of leftOut) notes.add('warning', 'gpu_left_out', remark);
  if (cores) notes.add('info', 'cores', cores);
  if (request.precision === 'auto') {
    const remark = precisionRemark(stored.plan.precision, devices);
    if (remark !== null) notes.add('info', 'precision_of_weakest', remark);
  }
  if (isFirst)
    for (const { path, ...why } of stored.leftOut) notes.add('warning', why.code, inputLeftOut(path, why));
  await batches.recall(devices);
  const controls = await controlsAtBegin(context, notes, { plan: stored.plan, devices, driver, isFirst });
  await run.saveDevices(
    devices.map((device) => {
      const told = storedDevice(localDevice(device, nodeOf(stored)));
      return { ...told, facts: { ...told.facts, ...controls(device.kind) } };
    }),
  );
}

/**
 * Checks whether a run can continue here and now: the same model, inputs still present if they are needed,
 * devices that fit the plan. For a run that was just created, `chosen` holds the devices, which were then
 * checked together with the model.
 */
export async function checkReadiness(
  context: EngineContext,
  folder: string,
  run: StoredRun,
  wanted: Omit<Wanted, 'precision'>,
  chosen?: DeviceChoice,
  patience: Patience = {},
): Promise<Result<DeviceChoice>> {
  // For large inputs, comparing takes as long as finding the devices, so both run at once.
  const [inputs, choice] = await Promise.all([
    run.prepared ? ok(undefined) : checkInputs(run, patience),
    chosen ? ok(chosen) : chooseForPlan(context, run, wanted, patience),
  ]);
  if (!inputs.ok) return inputs;
  if (choice.ok) makeWorkFolders(folder);
  return choice;
}

async function chooseForPlan(
  context: EngineContext,
  { plan, prepared }: StoredRun,
  wanted: Omit<Wanted, 'precision'>,
  patience: Patience,
): Promise<Result<DeviceChoice>> {
  // What shares have computed is merged without the model, for example on a login node that has no weights.
  if (wanted.where.kind === 'shares' && prepared !== null)
    return ok({ devices: [], cluster: null, plannedFor: null, leftOut: [], modelFolder: plan.model.folder });
  const model = await answerOf(findModel(plan.model, context.paths), plan.model.folder, patience);
  if (!model.ok) return model;
  const second = plan.secondLook?.model;
  const secondModel = second && (await answerOf(findModel(second, context.paths), second.folder, patience));
  if (secondModel && !secondModel.ok) return secondModel;
  const choice = await chooseDevices(context, { ...wanted, precision: plan.precision }, model.value);
  if (!choice.ok) return choice;
  const precision = precisionOf(plan.precision, choice.value);
  return precision.ok
    ? ok({ ...choice.value, secondModelFolder: secondModel?.value.planModel.folder })
    : precision;
}

/**
 * Inputs that are still to be read must match the plan. Those of a run just created have just been hashed.
 */
export async function checkInputs(
  { inputs, state }: StoredRun,
  patience: Patience = {},
): Promise<Result<void>> {
  const isKnown = state.phase === 'created';
  for (const { path, sizeBytes, sha256, failure } of inputs) {
    if (failure) continue;
    try {
      const size = await sizeOfRegular(path, patience);
      if (size !== sizeBytes || (!isKnown && (await hashFile(path, undefined, patience.signal)) !== sha256))
        return err(errorOf(said('input_changed', {}), path));
    } catch (reason) {
      if (isGone(reason))
        return failWith('input_not_found', `${path} is gone, and it has not been read to its end.`);
      return err(reason instanceof AppFailure ? reason.error : appError('input_unreadable', String(reason)));
    }
  }
  return ok(undefined);
}

const isGone = (reason: unknown): boolean =>
  reason instanceof Error && 'code' in reason && (reason.code === 'ENOENT' || reason.code === 'ENOTDIR');

async function sizeOfRegular(path: string, patience: Patience): Promise<number> {
  const file = await openRegular(path, patience);
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

const BYTES = { perChunkInDatabase: 130, perChunkInTables: 90, perFrameInTables: 70, perFrameInWork: 30 };
const EMBEDDING_VALUES_PER_FRAME = 768 + 2560;
const DISK_MARGIN = 1.2;
const SMALLEST_RUN_BYTES = 1_000_000;

/** Sizes from the inspection of the inputs. */
interface InputSize {
  chunks: number;
  frames: number;
  residues: number;
}

/** Disk space that a run needs in its folder while it computes. */
export function diskNeeded(
  { embeddings, reuseEmbeddings }: Pick<RunRequest, 'embeddings' | 'reuseEmbeddings'>,
  { chunks, frames, residues }: InputSize,
): number {
  const kept = embeddings === null ? 0 : embeddings === 'fp16' ? 2 : 4;
  const perFrame =
    EMBEDDING_VALUES_PER_FRAME *
    (kept + (reuseEmbeddings === undefined || isRunFolder(reuseEmbeddings) ? 0 : 4));
  const needed =
    chunks * (BYTES.perChunkInDatabase + BYTES.perChunkInTables) +
    frames * (BYTES.perFrameInTables + BYTES.perFrameInWork + perFrame) +
    // Residues and their nucleotides, which are kept until the run is done.
    residues * 4;
  return Math.round(SMALLEST_RUN_BYTES + needed * DISK_MARGIN);
}

/** The problem of a run whose disk has too little space. */
export function diskShortage(folder: string, needed: number, free: number | null): AppError | undefined {
  if (free === null || free >= needed) return undefined;
  return appError(
    'disk_full',
    message('start.disk_needed', {
      needed: bytesNamed(needed, formatBytes(needed)),
      free: bytesNamed(free, formatBytes(free)),
      folder,
    }),
  );
}

/** The same for a run that has just been created. */
export async function findDiskShortage(
  folder: string,
  request: Pick<RunRequest, 'embeddings' | 'reuseEmbeddings'>,
  size: InputSize,
): Promise<AppError | undefined> {
  return diskShortage(folder, diskNeeded(request, size), await freeBytes(folder));
}
