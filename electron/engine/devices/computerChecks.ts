import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { causeOf, errorOf, nextStepOf, type AppError, type Result } from '../../contract/errors.ts';
import { bytesNamed, inSequence, message, type Message } from '../../contract/messages.ts';
import { said } from '../../contract/problems.ts';
import type { ProbedGpu, ProbeResult } from '../../contract/protocol/index.ts';
import type { ComputerCheck, ModelStatus } from '../../contract/rpc/computer.ts';
import { blockedGpu, gpuDevice } from './chosenDevice.ts';
import { preferredPrecision } from './choosePrecision.ts';
import { describeTrials, type Trial } from './check/trial.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { formatBytes } from '../../contract/terminal/format.ts';

const GB = 1e9;
/**
 * Memory that must be free on a GPU for ESM-2 3B in half precision and small batches, including CUDA's own;
 * with less, its layers are streamed, for which at least this much must be free (placements in
 * inference/memory/placement.py, sizes in docs/performance.md).
 */
export const GPU_MEMORY_FOR_ALL = 6.8 * GB;
export const GPU_MEMORY_LEAST = 2 * GB;
/**
 * A worker on a processor reads 5.9 GB of weights through the page cache and uses 0.8 GB itself
 * (docs/performance.md).
 */
export const MEMORY_NEEDED = 8 * GB;
/** Space for the weights, their conversion, and the work folder of an ordinary run. */
export const DISK_NEEDED = 25 * GB;

const CHECK_AGAIN = { label: 'Check again', kind: 'check_again' } as const;
const REPAIR = { label: 'Repair', kind: 'repair_python' } as const;
const SET_UP = { label: 'Set up', kind: 'set_up_python' } as const;
const GET_WEIGHTS = { label: 'Get the weights', kind: 'get_weights' } as const;

export interface ComputerFacts {
  environment: Result<PythonEnvironment>;
  /** No environment was ever completely set up. */
  neverSetUp?: boolean;
  probe: Result<ProbeResult> | null;
  models: Result<ModelStatus[]> | null;
  diskFreeBytes: number | null;
  /** The results of the test computation on each device; null if not known yet. */
  devices?: Trial[] | null;
}

/** What is found about one part of the computer. */
type Finding = Omit<ComputerCheck, 'id' | 'title'>;

const finding =
  (status: Finding['status']) =>
  (action: Finding['action'], ...messages: Message[]): Finding => ({
    status,
    ...inSequence(messages),
    action,
  });
const [good, warning, bad] = [finding('good'), finding('warning'), finding('bad')];

/** Returns a line for each part of the computer: its status, a description, and at most one button. */
export function computerChecks(facts: ComputerFacts): ComputerCheck[] {
  const { environment, models } = facts;
  const probe = facts.probe?.ok ? facts.probe.value : null;
  // One cause is reported on one card: the cards that need Python wait for it.
  const withPython = (found: Finding): Finding =>
    environment.ok ? found : finding('waiting')(null, message('check.after_python'));
  return [
    { id: 'gpus', title: 'GPUs', ...withPython(gpuCheck(probe, environment)) },
    { id: 'memory', title: 'Memory', ...withPython(memoryCheck(probe)) },
    { id: 'disk', title: 'Disk', ...diskCheck(facts.diskFreeBytes) },
    { id: 'python', title: 'Python environment', ...pythonCheck(environment, facts.neverSetUp === true) },
    { id: 'computing', title: 'Test computation', ...withPython(computingCheck(facts.devices ?? null)) },
    { id: 'weights', title: 'Model weights', ...withPython(weightsCheck(models)) },
  ];
}

const sized = (bytes: number) => bytesNamed(bytes, formatBytes(bytes));

function gpuCheck(probe: ProbeResult | null, environment: Result<PythonEnvironment>): Finding {
  if (!probe) return bad(CHECK_AGAIN, message('check.driver.unknown'));
  const gpus = probe.gpus.filter((gpu) => gpu.visible);
  if (gpus.length === 0) {
    const reason = probe.no_gpu_code && errorOf(said(probe.no_gpu_code, {}));
    return probe.apple_mps
      ? warning(null, message('check.gpu.apple'))
      : warning(CHECK_AGAIN, message('check.gpu.none'), ...(reason ? told(reason) : []));
  }
  const names = [
    ...(probe.driver_version ? [message('check.driver.nvidia', { version: probe.driver_version })] : []),
    ...gpus.map(({ name, memory_free_bytes: free }) => message('check.gpu', { name, free: sized(free) })),
  ];
  const remarks = [...new Map(gpus.flatMap(gpuRemarks).map((remark) => [remark.text, remark])).values()];
  if (remarks.length === 0) return good(null, ...names);
  // Our own environment gets the PyTorch for the NVIDIA driver that is installed when the environment is
  // created.
  const canRepair = environment.ok && environment.value.own && gpus.some((gpu) => gpu.blocked_by !== null);
  return warning(canRepair ? REPAIR : CHECK_AGAIN, ...names, ...remarks);
}

const told = (error: AppError): Message[] => [causeOf(error), nextStepOf(error)];

/** What users should know before they choose a GPU for a run with the published models. */
function gpuRemarks(gpu: ProbedGpu): Message[] {
  const { name, memory_free_bytes: free } = gpu;
  const blocked = blockedGpu(gpu, name);
  if (blocked) return told(blocked);
  const remarks: Message[] = [];
  if (free < GPU_MEMORY_LEAST)
    remarks.push(message('check.gpu.too_small', { least: sized(GPU_MEMORY_LEAST) }));
  else if (free < GPU_MEMORY_FOR_ALL)
    remarks.push(message('check.gpu.streamed', { all: sized(GPU_MEMORY_FOR_ALL) }));
  const precision = preferredPrecision(gpuDevice(gpu));
  if (precision === 'fp32') remarks.push(message('check.gpu.fp32_only', { name }));
  else if (precision === 'fp16') remarks.push(message('check.gpu.no_bf16', { name }));
  return remarks;
}

function memoryCheck(probe: ProbeResult | null): Finding {
  if (!probe) return bad(CHECK_AGAIN, message('check.memory.unknown'));
  const { memory_available_bytes: free, memory_total_bytes: total } = probe.cpu;
  const memory = message('check.memory', { free: sized(free), total: sized(total) });
  return free >= MEMORY_NEEDED
    ? good(null, memory)
    : warning(CHECK_AGAIN, memory, message('check.memory.little', { needed: sized(MEMORY_NEEDED) }));
}

function diskCheck(bytes: number | null): Finding {
  if (bytes === null) return warning(CHECK_AGAIN, message('check.disk.unknown'));
  const free = sized(bytes);
  return bytes >= DISK_NEEDED
    ? good(null, message('check.disk', { free }))
    : warning(CHECK_AGAIN, message('check.disk.little', { free, needed: sized(DISK_NEEDED) }));
}

function pythonCheck(environment: Result<PythonEnvironment>, neverSetUp: boolean): Finding {
  if (!environment.ok) {
    return neverSetUp ? bad(SET_UP, message('check.python.absent')) : bad(REPAIR, causeOf(environment.error));
  }
  const { pythonVersion: version, packages } = environment.value;
  const torch = packages['torch'];
  return good(
    null,
    torch ? message('check.python.torch', { version, torch }) : message('check.python', { version }),
  );
}

/** "Ready" means that every device has computed correctly in every precision that it is offered for. */
function computingCheck(devices: readonly Trial[] | null): Finding {
  if (devices === null) return bad(CHECK_AGAIN, message('check.computing.untried'));
  const { wrong, ...texts } = describeTrials(devices);
  return wrong
    ? { status: 'bad', ...texts, action: CHECK_AGAIN }
    : { status: 'good', ...texts, action: null };
}

function weightsCheck(models: Result<ModelStatus[]> | null): Finding {
  if (!models) return bad(CHECK_AGAIN, message('check.weights.unknown'));
  if (!models.ok) return bad(CHECK_AGAIN, causeOf(models.error));
  const published = models.value.filter(({ notice }) => notice === null);
  const damaged = published.find(({ problem }) => problem !== null);
  if (damaged?.problem) return bad(GET_WEIGHTS, causeOf(damaged.problem));
  const present = published.filter((model) => model.present).map(({ title }) => title);
  return present.length > 0
    ? good(null, message('check.weights', { models: present.join(', ') }))
    : warning(GET_WEIGHTS, message('check.weights.none'));
}

/** Free space on the disk of an existing or future folder; null if it can't be determined. */
export async function freeBytes(folder: string): Promise<number | null> {
  for (let place = folder; ; place = dirname(place)) {
    try {
      const { bavail, bsize } = await statfs(place);
      return bavail * bsize;
    } catch {
      if (dirname(place) === place) return null;
    }
  }
}
