import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isIntegrated, type ProbedGpu, type ProbeResult } from '../../contract/protocol/index.ts';
import type { Result } from '../../contract/result.ts';
import type { ComputerCheck, ModelStatus } from '../../contract/rpc/computer.ts';
import { blockedGpu } from './blockedGpu.ts';
import type { DeviceVerdict } from './checkDevices.ts';
import { preferredPrecision } from './choosePrecision.ts';
import { gpuDevice } from './chosenDevice.ts';
import { AMD_UNTESTED } from './describeGpu.ts';
import { describeVerdicts } from './describeVerdicts.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { formatBytes } from '../format/format.ts';

const GB = 1e9;
/** Free on a GPU for ESM-2 3B in half precision and small batches, with what CUDA itself takes; with less, its layers are
 * streamed, for which there must be this much at least (placements in inference/memory/placement.py, sizes in docs/performance.md). */
export const GPU_MEMORY_FOR_ALL = 6.8 * GB;
export const GPU_MEMORY_LEAST = 2 * GB;
/** A CPU worker holds ESM-2 3B in FP32. */
export const MEMORY_NEEDED = 16 * GB;
/** Weights, their conversion, and the work folder of an ordinary run. */
export const DISK_NEEDED = 25 * GB;

const CHECK_AGAIN = { label: 'Check again', kind: 'check_again' } as const;
const REPAIR = { label: 'Repair', kind: 'repair_python' } as const;
const SET_UP = { label: 'Set up', kind: 'set_up_python' } as const;

export interface ComputerFacts {
  environment: Result<PythonEnvironment>;
  /** There never was an environment, or none to its end. */
  neverSetUp?: boolean;
  probe: Result<ProbeResult> | null;
  models: Result<ModelStatus[]> | null;
  diskFreeBytes: number | null;
  /** What each device has computed for a test; null where that isn't known yet. */
  devices?: DeviceVerdict[] | null;
}

/** One card per part of the computer: status, one sentence, one button. */
export function computerChecks(facts: ComputerFacts): ComputerCheck[] {
  const probe = facts.probe?.ok ? facts.probe.value : null;
  const checks = [
    driverCheck(probe),
    gpuCheck(probe, facts.environment),
    memoryCheck(probe),
    diskCheck(facts.diskFreeBytes),
    pythonCheck(facts.environment, facts.neverSetUp === true),
    computingCheck(facts.devices ?? null),
    weightsCheck(facts.models),
  ];
  // One cause is one card: what only Python can tell waits for it.
  return facts.environment.ok
    ? checks
    : checks.map((check) =>
        WITHOUT_PYTHON.has(check.id)
          ? check
          : { ...check, status: 'waiting', sentence: 'Checked after Python is set up.', action: null },
      );
}

const WITHOUT_PYTHON: ReadonlySet<ComputerCheck['id']> = new Set(['disk', 'python']);

function driverCheck(probe: ProbeResult | null): ComputerCheck {
  const base = { id: 'driver', title: 'GPU driver' } as const;
  if (!probe)
    return { ...base, status: 'bad', sentence: 'The driver could not be asked.', action: CHECK_AGAIN };
  const drivers = [
    ...(probe.driver_version ? [`NVIDIA driver ${probe.driver_version}.`] : []),
    ...(probe.gpus.some(({ vendor }) => vendor === 'amd') ? ["AMD's driver of this Linux kernel."] : []),
  ];
  return drivers.length > 0
    ? { ...base, status: 'good', sentence: drivers.join(' '), action: null }
    : {
        ...base,
        status: 'warning',
        sentence: probe.no_gpu_reason ?? 'No NVIDIA driver was found.',
        action: CHECK_AGAIN,
      };
}

function gpuCheck(probe: ProbeResult | null, environment: Result<PythonEnvironment>): ComputerCheck {
  const base = { id: 'gpus', title: 'GPUs' } as const;
  // A processor's graphics part that lacks something is no card that somebody misses.
  const gpus = (probe?.gpus ?? []).filter(
    (gpu) => gpu.visible && !(isIntegrated(gpu) && gpu.blocked_by !== null),
  );
  if (gpus.length === 0 && probe?.apple_mps) {
    return {
      ...base,
      status: 'warning',
      sentence:
        'An Apple GPU. This program was never tested on one: compare a few results with those of the processor ' +
        '(--devices cpu).',
      action: null,
    };
  }
  if (gpus.length === 0) {
    return {
      ...base,
      status: 'warning',
      sentence: 'No GPU can be used. Runs work on the processor, but the published models take days there.',
      action: CHECK_AGAIN,
    };
  }
  const names = gpus.map((gpu) => `${gpu.name} (${formatBytes(gpu.memory_free_bytes)} free)`).join(', ');
  const remarks = [...new Set(gpus.flatMap(gpuRemarks))];
  if (remarks.length === 0) return { ...base, status: 'good', sentence: `${names}.`, action: null };
  // Our own environment gets the PyTorch for the NVIDIA driver that is there when it is made.
  const canRepair =
    environment.ok &&
    environment.value.own &&
    gpus.some((gpu) => gpu.blocked_by !== null && gpu.blocked_by !== 'permission');
  const action = canRepair ? REPAIR : CHECK_AGAIN;
  return { ...base, status: 'warning', sentence: `${names}. ${remarks.join(' ')}`, action };
}

/** What one should know before choosing a GPU for a run with the published models. */
function gpuRemarks(gpu: ProbedGpu): string[] {
  const { name, memory_free_bytes: free } = gpu;
  const blocked = blockedGpu(gpu, name);
  if (blocked) return [`${blocked.cause} ${blocked.nextStep}`];
  const untested =
    gpu.vendor === 'amd'
      ? [`${AMD_UNTESTED}: compare a few results with those of the processor (--devices cpu).`]
      : [];
  if (isIntegrated(gpu))
    return [...untested, `${name} is part of the processor: it computes only if it is chosen by name.`];
  const remarks = untested;
  if (free < GPU_MEMORY_LEAST)
    remarks.push(`With less than ${formatBytes(GPU_MEMORY_LEAST)} free, a GPU is too small.`);
  else if (free < GPU_MEMORY_FOR_ALL) {
    remarks.push(
      `With less than ${formatBytes(GPU_MEMORY_FOR_ALL)} free, the layers of ESM-2 come from main memory one after the ` +
        'other: the results are the same.',
    );
  }
  const precision = preferredPrecision(gpuDevice(gpu));
  if (precision === 'fp32')
    remarks.push(`${name} computes in FP32 only, and so do all GPUs of a run that it takes part in.`);
  else if (precision === 'fp16')
    remarks.push(`${name} has no BF16: runs that it takes part in compute in FP16.`);
  return remarks;
}

function memoryCheck(probe: ProbeResult | null): ComputerCheck {
  const base = { id: 'memory', title: 'Memory' } as const;
  if (!probe) return { ...base, status: 'bad', sentence: 'Memory could not be asked.', action: CHECK_AGAIN };
  const { memory_available_bytes: free, memory_total_bytes: total } = probe.cpu;
  const sentence = `${formatBytes(free)} of ${formatBytes(total)} free.`;
  return free >= MEMORY_NEEDED
    ? { ...base, status: 'good', sentence, action: null }
    : {
        ...base,
        status: 'warning',
        sentence: `${sentence} Loading the published models takes up to 16 GB.`,
        action: CHECK_AGAIN,
      };
}

function diskCheck(free: number | null): ComputerCheck {
  const base = { id: 'disk', title: 'Disk' } as const;
  if (free === null) {
    return {
      ...base,
      status: 'warning',
      sentence: 'The free space could not be found out.',
      action: CHECK_AGAIN,
    };
  }
  return free >= DISK_NEEDED
    ? {
        ...base,
        status: 'good',
        sentence: `${formatBytes(free)} free for weights and results.`,
        action: null,
      }
    : {
        ...base,
        status: 'warning',
        sentence: `Only ${formatBytes(free)} free; weights and work files need about 25 GB.`,
        action: CHECK_AGAIN,
      };
}

function pythonCheck(environment: Result<PythonEnvironment>, neverSetUp: boolean): ComputerCheck {
  const base = { id: 'python', title: 'Python environment' } as const;
  if (!environment.ok) {
    return {
      ...base,
      status: 'bad',
      sentence: neverSetUp ? 'Not set up yet.' : environment.error.cause,
      action: neverSetUp ? SET_UP : REPAIR,
    };
  }
  const { pythonVersion, packages } = environment.value;
  const torch = packages['torch'] ? `, PyTorch ${packages['torch']}` : '';
  return { ...base, status: 'good', sentence: `Python ${pythonVersion}${torch}.`, action: null };
}

/** "Ready" means this: every device has computed in every precision that it is offered for, and rightly. */
function computingCheck(devices: readonly DeviceVerdict[] | null): ComputerCheck {
  const base = { id: 'computing', title: 'Test computation' } as const;
  if (devices === null) {
    return { ...base, status: 'bad', sentence: 'The devices could not be tried.', action: CHECK_AGAIN };
  }
  const { wrong, sentence } = describeVerdicts(devices);
  return wrong
    ? { ...base, status: 'bad', sentence, action: CHECK_AGAIN }
    : { ...base, status: 'good', sentence, action: null };
}

function weightsCheck(models: Result<ModelStatus[]> | null): ComputerCheck {
  const base = { id: 'weights', title: 'Model weights' } as const;
  const action = { label: 'Get the weights', kind: 'get_weights' } as const;
  if (!models?.ok) {
    return {
      ...base,
      status: 'bad',
      sentence: models?.error.cause ?? 'The weights could not be checked.',
      action: CHECK_AGAIN,
    };
  }
  const published = models.value.filter(({ id }) => id !== 'demo');
  const damaged = published.find(({ problem }) => problem !== null);
  if (damaged?.problem) return { ...base, status: 'bad', sentence: damaged.problem.cause, action };
  const present = published.filter((model) => model.present).map(({ title }) => title);
  return present.length > 0
    ? { ...base, status: 'good', sentence: `Here: ${present.join(', ')}.`, action: null }
    : {
        ...base,
        status: 'warning',
        sentence: 'Only the demo model is here. It has no biological meaning.',
        action,
      };
}

/** Free space where a folder is, or will be; null where it can't be found out. */
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
