import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { causeOf, nextStepOf, type Result } from '../../contract/errors.ts';
import { bytesNamed, inSequence, message, type Message } from '../../contract/messages.ts';
import { isIntegrated, type ProbedGpu, type ProbeResult } from '../../contract/protocol/index.ts';
import type { ComputerCheck, ModelStatus } from '../../contract/rpc/computer.ts';
import { blockedGpu, gpuDevice } from './chosenDevice.ts';
import { preferredPrecision } from './choosePrecision.ts';
import { describeVerdicts, type DeviceVerdict } from './selfTest/deviceLevel.ts';
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

export interface ComputerFacts {
  environment: Result<PythonEnvironment>;
  /** No environment was ever completely set up. */
  neverSetUp?: boolean;
  probe: Result<ProbeResult> | null;
  models: Result<ModelStatus[]> | null;
  diskFreeBytes: number | null;
  /** The results of the test computation on each device; null if not known yet. */
  devices?: DeviceVerdict[] | null;
}

/** Returns a line for each part of the computer: its status, a description, and at most one button. */
export function computerChecks(facts: ComputerFacts): ComputerCheck[] {
  const probe = facts.probe?.ok ? facts.probe.value : null;
  const checks = [
    gpuCheck(probe, facts.environment),
    memoryCheck(probe),
    diskCheck(facts.diskFreeBytes),
    pythonCheck(facts.environment, facts.neverSetUp === true),
    computingCheck(facts.devices ?? null),
    weightsCheck(facts.models),
  ];
  // One cause is reported on one card: the cards that need Python wait for it.
  return facts.environment.ok
    ? checks
    : checks.map((check) =>
        WITHOUT_PYTHON.has(check.id)
          ? check
          : { ...check, status: 'waiting', ...saying(message('check.after_python')), action: null },
      );
}

const saying = (...messages: Message[]) => inSequence(messages);

const sized = (bytes: number) => bytesNamed(bytes, formatBytes(bytes));

/** Python sends sentences with codes; windows have the same sentences by these codes. */
function noGpuReason({ no_gpu_reason: text, no_gpu_code: code }: ProbeResult): Message {
  if (text === null) return message('check.driver.none');
  return { text, wording: code && { key: `no_gpu.${code}`, values: {} } };
}

const WITHOUT_PYTHON: ReadonlySet<ComputerCheck['id']> = new Set(['disk', 'python']);

function gpuCheck(probe: ProbeResult | null, environment: Result<PythonEnvironment>): ComputerCheck {
  const base = { id: 'gpus', title: 'GPUs' } as const;
  if (!probe)
    return { ...base, status: 'bad', ...saying(message('check.driver.unknown')), action: CHECK_AGAIN };
  // Users don't expect an integrated GPU to compute, so one that can't is not reported.
  const gpus = probe.gpus.filter((gpu) => gpu.visible && !(isIntegrated(gpu) && gpu.blocked_by !== null));
  if (gpus.length === 0 && probe.apple_mps) {
    return {
      ...base,
      status: 'warning',
      ...saying(message('check.gpu.apple')),
      action: null,
    };
  }
  if (gpus.length === 0) {
    return {
      ...base,
      status: 'warning',
      ...saying(message('check.gpu.none'), noGpuReason(probe)),
      action: CHECK_AGAIN,
    };
  }
  const names = [
    ...(probe.driver_version ? [message('check.driver.nvidia', { version: probe.driver_version })] : []),
    ...(gpus.some(({ vendor }) => vendor === 'amd') ? [message('check.driver.amd')] : []),
    ...gpus.map(({ name, memory_free_bytes: free }) => message('check.gpu', { name, free: sized(free) })),
  ];
  const remarks = [...new Map(gpus.flatMap(gpuRemarks).map((remark) => [remark.text, remark])).values()];
  if (remarks.length === 0) return { ...base, status: 'good', ...saying(...names), action: null };
  // Our own environment gets the PyTorch for the NVIDIA driver that is installed when the environment is
  // created.
  const canRepair =
    environment.ok &&
    environment.value.own &&
    gpus.some((gpu) => gpu.blocked_by !== null && gpu.blocked_by !== 'permission');
  const action = canRepair ? REPAIR : CHECK_AGAIN;
  return { ...base, status: 'warning', ...saying(...names, ...remarks), action };
}

/** What users should know before they choose a GPU for a run with the published models. */
function gpuRemarks(gpu: ProbedGpu): Message[] {
  const { name, memory_free_bytes: free } = gpu;
  const blocked = blockedGpu(gpu, name);
  if (blocked) return [causeOf(blocked), nextStepOf(blocked)];
  const remarks: Message[] = gpu.vendor === 'amd' ? [message('check.gpu.amd_untested')] : [];
  if (isIntegrated(gpu)) return [...remarks, message('check.gpu.integrated', { name })];
  if (free < GPU_MEMORY_LEAST)
    remarks.push(message('check.gpu.too_small', { least: sized(GPU_MEMORY_LEAST) }));
  else if (free < GPU_MEMORY_FOR_ALL)
    remarks.push(message('check.gpu.streamed', { all: sized(GPU_MEMORY_FOR_ALL) }));
  const precision = preferredPrecision(gpuDevice(gpu));
  if (precision === 'fp32') remarks.push(message('check.gpu.fp32_only', { name }));
  else if (precision === 'fp16') remarks.push(message('check.gpu.no_bf16', { name }));
  return remarks;
}

function memoryCheck(probe: ProbeResult | null): ComputerCheck {
  const base = { id: 'memory', title: 'Memory' } as const;
  if (!probe)
    return { ...base, status: 'bad', ...saying(message('check.memory.unknown')), action: CHECK_AGAIN };
  const { memory_available_bytes: free, memory_total_bytes: total } = probe.cpu;
  const memory = message('check.memory', { free: sized(free), total: sized(total) });
  return free >= MEMORY_NEEDED
    ? { ...base, status: 'good', ...saying(memory), action: null }
    : {
        ...base,
        status: 'warning',
        ...saying(memory, message('check.memory.little', { needed: sized(MEMORY_NEEDED) })),
        action: CHECK_AGAIN,
      };
}

function diskCheck(free: number | null): ComputerCheck {
  const base = { id: 'disk', title: 'Disk' } as const;
  if (free === null) {
    return {
      ...base,
      status: 'warning',
      ...saying(message('check.disk.unknown')),
      action: CHECK_AGAIN,
    };
  }
  return free >= DISK_NEEDED
    ? {
        ...base,
        status: 'good',
        ...saying(message('check.disk', { free: sized(free) })),
        action: null,
      }
    : {
        ...base,
        status: 'warning',
        ...saying(message('check.disk.little', { free: sized(free), needed: sized(DISK_NEEDED) })),
        action: CHECK_AGAIN,
      };
}

function pythonCheck(environment: Result<PythonEnvironment>, neverSetUp: boolean): ComputerCheck {
  const base = { id: 'python', title: 'Python environment' } as const;
  if (!environment.ok) {
    return {
      ...base,
      status: 'bad',
      ...saying(neverSetUp ? message('check.python.absent') : causeOf(environment.error)),
      action: neverSetUp ? SET_UP : REPAIR,
    };
  }
  const { pythonVersion: version, packages } = environment.value;
  const torch = packages['torch'];
  const versions = torch
    ? message('check.python.torch', { version, torch })
    : message('check.python', { version });
  return { ...base, status: 'good', ...saying(versions), action: null };
}

/** "Ready" means that every device has computed correctly in every precision that it is offered for. */
function computingCheck(devices: readonly DeviceVerdict[] | null): ComputerCheck {
  const base = { id: 'computing', title: 'Test computation' } as const;
  if (devices === null) {
    return { ...base, status: 'bad', ...saying(message('check.computing.untried')), action: CHECK_AGAIN };
  }
  const { wrong, ...texts } = describeVerdicts(devices);
  return wrong
    ? { ...base, status: 'bad', ...texts, action: CHECK_AGAIN }
    : { ...base, status: 'good', ...texts, action: null };
}

function weightsCheck(models: Result<ModelStatus[]> | null): ComputerCheck {
  const base = { id: 'weights', title: 'Model weights' } as const;
  const action = { label: 'Get the weights', kind: 'get_weights' } as const;
  if (!models?.ok) {
    return {
      ...base,
      status: 'bad',
      ...saying(models ? causeOf(models.error) : message('check.weights.unknown')),
      action: CHECK_AGAIN,
    };
  }
  const published = models.value.filter(({ notice }) => notice === null);
  const damaged = published.find(({ problem }) => problem !== null);
  if (damaged?.problem) return { ...base, status: 'bad', ...saying(causeOf(damaged.problem)), action };
  const present = published.filter((model) => model.present).map(({ title }) => title);
  return present.length > 0
    ? {
        ...base,
        status: 'good',
        ...saying(message('check.weights', { models: present.join(', ') })),
        action: null,
      }
    : {
        ...base,
        status: 'warning',
        ...saying(message('check.weights.none')),
        action,
      };
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
