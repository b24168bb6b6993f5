import { join } from 'node:path';
import { IMPORTED_EMBEDDINGS_FOLDER } from '../../../contract/plan.ts';
import type { PartCommand, PoolChoice, PrepareCommand } from '../../../contract/protocol/index.ts';
import { workerEnvironment, type ChosenDevice } from '../../devices/chosenDevice.ts';
import type { EngineContext } from '../../engineContext.ts';
import { makeFolderInRun } from '../../files/runFiles.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { StoredPart } from '../../store/types.ts';
import { patientDeadlines, type DeadlineLimits } from '../../workers/deadlines.ts';
import type { DeviceWorkerOptions, LoadCommand } from '../../workers/deviceWorker.ts';
import { localLauncher } from '../../workers/launchers/localWorker.ts';
import type { WorkerLauncher } from '../../workers/launchers/workerConnection.ts';
import type { WorkerPool, WorkerPoolOptions } from '../../workers/launchers/workerPool.ts';
import type { RunRecord } from '../runRecord.ts';
import { backendLaunch, NO_GPU } from './backendLaunch.ts';
import type { BatchSizes } from './batchSizes.ts';
import type { WorkDevice } from './workDevice.ts';

/** In a run's folder, of its cluster's pool: what is in it says which of a scheduler's jobs are the run's. */
export const POOL_FOLDER = 'work/pool';
const CLUSTER_PATIENCE = 5;

export interface WorkSessionOptions {
  context: EngineContext;
  store: RunStore;
  record: RunRecord;
  /** Of this computer; none where a cluster brings them. */
  devices: readonly ChosenDevice[];
  /** The cluster to compute on; null for this computer. */
  pool: PoolChoice | null;
  /** Reads the inputs, and computes nothing. */
  preparesOnly: boolean;
  /** For a device of it, before the run is paused. */
  maxWaitMs: number | undefined;
  /** Where the model lies on this computer. */
  modelFolder: string;
  /** What is known of the devices' memory. */
  batches: BatchSizes;
}

/** In the run's folder. A cluster names its devices as it likes. */
export const workerLog = (device: string): string =>
  `logs/worker-${device.replaceAll(/[^\w.-]/g, '-').slice(0, 100)}.log`;

export function poolOptions(
  { context, store, maxWaitMs }: WorkSessionOptions,
  pool: PoolChoice,
): WorkerPoolOptions {
  makeFolderInRun(store.folder, POOL_FOLDER);
  return {
    launch: backendLaunch(context, 'cluster', [], NO_GPU),
    logPath: join(store.folder, 'logs', 'pool.log'),
    open: {
      type: 'open_pool',
      pool,
      run_folder: store.folder,
      pool_folder: join(store.folder, POOL_FOLDER),
    },
    deadlines: context.deadlines,
    restartDelayMs: context.restartDelayMs,
    maxWaitMs,
  };
}

/** `leftOut`: numbers of inputs that can't be read. */
export function prepareCommand(
  { store, record }: WorkSessionOptions,
  leftOut: ReadonlySet<number>,
): PrepareCommand {
  const { plan } = record.run;
  return {
    type: 'prepare',
    inputs: plan.inputs
      .map(({ path, sha256 }, input) => ({ input, path, sha256 }))
      .filter(({ input }) => !leftOut.has(input)),
    work_dir: join(store.folder, 'work'),
    chunk_length: plan.chunkLength,
    residues_per_part: plan.residuesPerPart,
    tail_parts: plan.tailParts,
  };
}

/** `pool`: that of a cluster's devices. */
export function workerOptions(
  options: WorkSessionOptions,
  device: WorkDevice,
  pool: WorkerPool | undefined,
): DeviceWorkerOptions {
  const { context, record } = options;
  return {
    device: device.id,
    launch: launcher(options, device, pool),
    load: () => loadCommand(options, device),
    modelHash: record.run.plan.model.hash,
    deadlines: patientDeadlines(
      device.local ? context.deadlines : clusterDeadlines(context.deadlines),
      record.request.patience ?? 1,
    ),
    restartDelayMs: context.restartDelayMs,
  };
}

function launcher(
  { context, store }: WorkSessionOptions,
  { id, local }: WorkDevice,
  pool: WorkerPool | undefined,
): WorkerLauncher {
  const logPath = join(store.folder, workerLog(id));
  if (local) return localLauncher(backendLaunch(context, 'worker', [], workerEnvironment(local)), logPath);
  if (!pool) throw new Error(`device ${id} has no pool`);
  return pool.launcher(id, logPath);
}

function loadCommand(
  { store, record, batches, modelFolder }: WorkSessionOptions,
  device: WorkDevice,
): LoadCommand {
  const { plan } = record.run;
  return {
    type: 'load',
    device: device.kind,
    model_folder: modelFolder,
    precision: plan.precision,
    tokens_per_batch: plan.tokensPerBatch,
    embed_equal_sequences_once: plan.embedEqualSequencesOnce,
    embeddings: plan.embeddings,
    memory_fraction: memoryFraction(device, record.request.gpuMemoryBytes),
    ...batches.limitsOf(device.id),
    placement: 'auto',
    imported_embeddings: plan.imported
      ? {
          folder: join(store.folder, IMPORTED_EMBEDDINGS_FOLDER),
          index_sha256: plan.imported.indexSha256,
        }
      : null,
  };
}

export function partCommand(
  { store, record }: WorkSessionOptions,
  { key, path, sha256, frameBegin, frameEnd }: StoredPart,
): PartCommand {
  const file = (kind: string): string => join(store.folder, 'work', kind, `${key}.safetensors`);
  return {
    type: 'part',
    part: key,
    part_path: join(store.folder, path),
    part_sha256: sha256,
    frame_begin: frameBegin,
    frame_end: frameEnd,
    scores_path: file('scores'),
    embeddings_path: record.run.plan.embeddings === null ? null : file('embeddings'),
  };
}

/** Weights may have to be brought to a node first, and what is said there may come by way of shared files. */
function clusterDeadlines(local: DeadlineLimits): DeadlineLimits {
  return {
    ...local,
    helloMs: CLUSTER_PATIENCE * local.helloMs,
    loadMs: 2 * local.loadMs,
    silentMs: CLUSTER_PATIENCE * local.silentMs,
  };
}

/** The share of a GPU's memory that a limit comes to. What CUDA itself takes, up to 0.7 GB, is not counted. */
function memoryFraction({ memoryTotalBytes }: WorkDevice, limitBytes: number | undefined): number | null {
  if (limitBytes === undefined || memoryTotalBytes === null) return null;
  return limitBytes >= memoryTotalBytes ? null : limitBytes / memoryTotalBytes;
}
