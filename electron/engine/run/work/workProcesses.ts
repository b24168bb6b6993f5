import { join } from 'node:path';
import { IMPORTED_EMBEDDINGS_FOLDER } from '../../../contract/plan.ts';
import type { ClusterChoice } from '../../../contract/cluster.ts';
import type { PartCommand, PrepareCommand } from '../../../contract/protocol/index.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import type { EngineContext } from '../engineContext.ts';
import type { RunStore } from '../../store/runStore.ts';
import { inputsRead, type StoredPart } from '../../store/types.ts';
import { patientDeadlines } from '../../workers/deadlines.ts';
import { type DeviceWorkerOptions, type LoadCommand, localLauncher } from '../../workers/backendProcess.ts';
import type { RunRecord } from '../runRecord.ts';
import type { BatchSizes } from '../batchSizes.ts';
import { workerLaunch, type WorkDevice } from '../workDevice.ts';

export interface WorkSessionOptions {
  context: EngineContext;
  store: RunStore;
  record: RunRecord;
  /** None if a cluster computes. */
  devices: readonly ChosenDevice[];
  /** The cluster that computes; null for this computer. */
  cluster: ClusterChoice | null;
  /** Reads the inputs only. */
  preparesOnly: boolean;
  modelFolder: string;
  secondModelFolder: string | undefined;
  /** What is known about the devices' memory. */
  batches: BatchSizes;
}

/** The log's path in the run's folder. */
export const workerLog = (device: string): string =>
  `logs/worker-${device.replaceAll(/[^\w.-]/g, '-').slice(0, 100)}.log`;

/** `leftOut`: numbers of inputs that can't be read. */
export function prepareCommand(
  { store, record }: WorkSessionOptions,
  leftOut: ReadonlySet<number>,
): PrepareCommand {
  const { plan } = record.stored;
  return {
    type: 'prepare',
    inputs: inputsRead(record.stored).filter(({ input }) => !leftOut.has(input)),
    work_dir: join(store.folder, 'work'),
    chunk_length: plan.chunkLength,
    ...(plan.secondLook ? { second_chunk_length: plan.secondLook.chunkLength } : {}),
    residues_per_part: plan.residuesPerPart,
    tail_parts: plan.tailParts,
    first_round: plan.firstRound,
    order_seed: plan.order === 'sample' ? plan.orderSeed : null,
    ...(plan.minLength === undefined ? {} : { min_length: plan.minLength }),
    ...(plan.geneticCode === undefined ? {} : { genetic_code: plan.geneticCode }),
  };
}

export function workerOptions(options: WorkSessionOptions, device: WorkDevice): DeviceWorkerOptions {
  const { context, store, record } = options;
  const launch = workerLaunch(context.environment, device.local);
  const log = join(store.folder, workerLog(device.id));
  const modelHash = record.stored.plan.model.hash;
  const load = () => loadCommand(options, device);
  return {
    device: device.id,
    launch:
      context.warmWorkers?.launcher(launch, device.id, log, modelHash, load) ?? localLauncher(launch, log),
    load,
    modelHash,
    deadlines: patientDeadlines(context.deadlines, record.request.patience ?? 1),
    restartDelayMs: context.restartDelayMs,
  };
}

function loadCommand(
  { store, record, batches, modelFolder, secondModelFolder }: WorkSessionOptions,
  device: WorkDevice,
): LoadCommand {
  const { plan } = record.stored;
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
    second_head:
      plan.secondLook?.model && secondModelFolder !== undefined
        ? { folder: secondModelFolder, model_hash: plan.secondLook.model.hash }
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
    embeddings_path: record.stored.plan.embeddings === null ? null : file('embeddings'),
  };
}

/**
 * The share of a GPU's memory that a limit corresponds to. CUDA's own memory, up to 0.7 GB, is not counted.
 */
function memoryFraction({ memoryTotalBytes }: WorkDevice, limitBytes: number | undefined): number | null {
  if (limitBytes === undefined || memoryTotalBytes === null) return null;
  return limitBytes >= memoryTotalBytes ? null : limitBytes / memoryTotalBytes;
}
