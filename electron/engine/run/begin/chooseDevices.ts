import type { Message } from '../../../contract/messages.ts';
import { computesOn, type ClusterChoice } from '../../../contract/cluster.ts';
import type { Precision, WorkerReady } from '../../../contract/protocol/index.ts';
import { clusterOf, type RunRequest, type Where, type WorkerFigures } from '../../../contract/rpc/runs.ts';
import { err, failWith, ok, type Result, type AppError } from '../../../contract/errors.ts';
import {
  residuesPerPart,
  SAMPLE_FROM_PARTS,
  TOKENS_PER_BATCH,
  type Hardware,
  type Plan,
} from '../../../contract/plan.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { choosePrecision, oldGpusRemark, withoutOldGpus } from '../../devices/choosePrecision.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { coresRemark, isAutomatic, leftOutRemark, selectDevices } from '../../devices/selectDevices.ts';
import { withLastTest } from '../../devices/check/trial.ts';
import type { EngineContext } from '../engineContext.ts';
import type { ResolvedModel } from '../../models/modelFolder.ts';
import { withoutGpus } from '../shares/clusterPlan.ts';
import type { RunDevice } from '../../store/types.ts';
import type { WorkDevice } from '../workDevice.ts';

export interface PlannedDevices {
  /** Devices of this computer; none if a cluster provides them. */
  devices: ChosenDevice[];
  /** The kind of device that other computers compute on, if they do. */
  plannedFor: 'cpu' | 'gpu' | null;
}

export interface DeviceChoice extends PlannedDevices {
  cluster: ClusterChoice | null;
  /** Why some of the present GPUs are not used. */
  leftOut: Message[];
  /** How many cores compute, if not all do. */
  cores?: Message | null;
  modelFolder: string;
  /** Where the model of a second look is, if it has one. */
  secondModelFolder?: string | undefined;
  /** The version of NVIDIA's driver here. */
  driver?: string | null;
}

/** The devices and precision that a run asks for. */
export interface Wanted {
  where: Where;
  /** Devices of this computer, in the form that the user gave. */
  devices: string;
  /** The precision of an existing run, or the one that the user wants. */
  precision: 'auto' | Precision;
}

/** The devices of this computer that the user's choice matches now, or the cluster that will provide them. */
export async function chooseDevices(
  context: EngineContext,
  { where, devices: wanted, precision }: Wanted,
  model: ResolvedModel,
): Promise<Result<DeviceChoice>> {
  const modelFolder = model.planModel.folder;
  const cluster = clusterOf(where);
  if (cluster) {
    const blocked = withoutGpus(cluster, context.environment);
    const plannedFor = computesOn(cluster);
    return blocked ? err(blocked) : ok({ devices: [], cluster, plannedFor, leftOut: [], modelFolder });
  }
  if (where.kind === 'shares') {
    const plannedFor = where.on_processors ? 'cpu' : 'gpu';
    return ok({ devices: [], cluster: null, plannedFor, leftOut: [], modelFolder });
  }
  const found = await probeDevices(context.environment);
  if (!found.ok) return found;
  const probe = await withLastTest(context, found.value);
  probe.cpu.memory_available_bytes += context.warmWorkers?.memoryBytes ?? 0;
  const selected = selectDevices(wanted, probe, { cpuMemory: model.cpuMemory });
  if (!selected.ok) return selected;
  const { devices, old } = isAutomatic(wanted)
    ? withoutOldGpus(precision, selected.value)
    : { devices: selected.value, old: [] };
  const leftOut = [leftOutRemark(wanted, probe, devices), oldGpusRemark(old)].filter(
    (remark) => remark !== null,
  );
  const cores = coresRemark(wanted, probe, devices, model.cpuMemory);
  const { driver_version: driver } = probe;
  return ok({ devices, cluster: null, plannedFor: null, leftOut, cores, modelFolder, driver });
}

/** The hardware that determines the sizes of a plan's batches and parts. */
function hardwareOf({ devices, plannedFor }: PlannedDevices): Hardware {
  if (plannedFor !== null) return plannedFor;
  if (devices.some(({ kind }) => kind === 'mps')) return 'apple';
  return devices.every(({ kind }) => kind === 'cpu') ? 'cpu' : 'gpu';
}

/**
 * The sizes and the order of a run's work. The viral share is known, and calls are settled, only if an even
 * sample of everything is computed first; a small run is done before that matters.
 */
export function workOf(
  request: RunRequest,
  choice: PlannedDevices,
  residues: number,
): Pick<Plan, 'tokensPerBatch' | 'residuesPerPart' | 'order'> {
  const hardware = hardwareOf(choice);
  const partSize = request.residuesPerPart ?? residuesPerPart(hardware, residues);
  const isSmall = residues < SAMPLE_FROM_PARTS * partSize;
  const usual = isSmall && (request.until ?? { kind: 'time' }).kind === 'time' ? 'file' : 'sample';
  return {
    tokensPerBatch: request.tokensPerBatch ?? TOKENS_PER_BATCH[hardware],
    residuesPerPart: partSize,
    order: request.order ?? usual,
  };
}

/**
 * The precision of a run, which all its devices have to support. A cluster's devices are not known yet: one
 * that does not support it is switched off when it joins, with a message.
 */
export function precisionOf(wanted: 'auto' | Precision, choice: PlannedDevices): Result<Precision> {
  if (choice.plannedFor === null) return choosePrecision(wanted, choice.devices);
  const usual = hardwareOf(choice) === 'cpu' ? 'fp32' : 'bf16';
  if (wanted === 'auto' || wanted === usual) return ok(usual);
  const cause =
    wanted === 'fp8'
      ? 'FP8 has to be checked on the GPU that computes in it, which a cluster does not allow.'
      : 'Processors cannot compute in fp16; those with AMX or AVX512-BF16 can do bf16.';
  if (wanted === 'fp8' || (wanted === 'fp16' && usual === 'fp32'))
    return failWith('precision_unsupported', cause, { nextStep: 'Choose another precision.' });
  return ok(wanted);
}

/** How a worker has loaded the model: where its parts are, and what computes them. */
export type MemoryUse = Pick<
  WorkerReady,
  'placement' | 'tokens_per_batch' | 'memory_free_bytes' | 'attention' | 'load_seconds' | 'memory_bytes'
>;

/** What a run learns about a device. */
export interface DeviceFindings {
  /** Known once its worker is ready. */
  memory?: MemoryUse;
  /** Known once it has computed. */
  figures?: WorkerFigures;
  switchedOff?: AppError | null;
}

/** A device in the form of the run's database and of run.json. */
export function storedDevice(
  { id, name, kind, facts }: WorkDevice,
  { memory, figures, switchedOff = null }: DeviceFindings = {},
): RunDevice {
  const use = memory && {
    placement: memory.placement,
    tokensPerBatch: memory.tokens_per_batch,
    attention: memory.attention,
    loadSeconds: memory.load_seconds,
    memoryLoadedBytes: memory.memory_bytes,
    ...(memory.memory_free_bytes === null ? {} : { memoryFreeBytes: memory.memory_free_bytes }),
  };
  return { id, name, kind, facts: { ...facts, ...use, ...figures }, switchedOff };
}
