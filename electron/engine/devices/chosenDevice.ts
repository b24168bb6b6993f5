import type { FailedPrecision, Precision, ProbedGpu } from '../../contract/protocol/index.ts';
import { appError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';

interface Device {
  /** The UUID of a GPU; mps; cpu:0, cpu:1, ... */
  readonly id: string;
  readonly name: string;
  /** Of a processor, the fastest first. */
  readonly precisions: readonly Precision[];
  /** The precisions in which it failed the test computation. */
  readonly failed?: readonly FailedPrecision[] | undefined;
}

interface Gpu extends Device {
  readonly kind: 'cuda';
  readonly capability: readonly [major: number, minor: number];
  /** The number in nvidia-smi. */
  readonly index: number;
  readonly memoryTotalBytes: number;
  readonly memoryFreeBytes: number;
}

/** A device for one worker, as chosen by the user or by `auto`. */
export type ChosenDevice = ({ readonly kind: 'cpu' | 'mps' } & Device) | Gpu;

/** Describes a GPU of this computer as a device to choose. */
export function gpuDevice(gpu: ProbedGpu): ChosenDevice {
  return {
    kind: 'cuda',
    capability: gpu.compute_capability,
    id: gpu.uuid,
    index: gpu.index,
    name: gpu.name,
    memoryTotalBytes: gpu.memory_total_bytes,
    memoryFreeBytes: gpu.memory_free_bytes,
    precisions: gpu.precisions,
    failed: gpu.failed,
  };
}

/** For processes that must not touch a GPU: a context on one takes memory from the workers. */
export const NO_GPU = { CUDA_VISIBLE_DEVICES: '' } as const;

/** Variables that pin a worker to its device, as overrides for `pythonLaunch`. */
export function workerEnvironment(device: ChosenDevice): Record<string, string> {
  switch (device.kind) {
    case 'cuda':
      return { CUDA_VISIBLE_DEVICES: device.id, CUDA_DEVICE_ORDER: 'PCI_BUS_ID' };
    case 'cpu':
      return {
        CUDA_VISIBLE_DEVICES: '',
        // Each worker has one thread: sums must not depend on the number of cores.
        OMP_NUM_THREADS: '1',
        MKL_NUM_THREADS: '1',
        // glibc would keep the memory of freed tensors up to 32 MB, some 0.1 GB in all.
        MALLOC_MMAP_THRESHOLD_: String(4 * 1024 ** 2),
      };
    case 'mps':
      return { CUDA_VISIBLE_DEVICES: '' };
  }
}

/**
 * Whether a worker runs on another GPU, or slice of one, than it was assigned to. Other devices have no such
 * UUID.
 */
export function isOtherGpu(meant: string, found: string): boolean {
  return /^(gpu|mig)-/i.test(meant) && found.toLowerCase() !== meant.toLowerCase();
}

/** Why a GPU can't compute, and what to do about it; null if it can. `name`: how to name it. */
export function blockedGpu(gpu: ProbedGpu, name: string): AppError | null {
  const { blocked_by: reason, compute_capability: capability } = gpu;
  if (reason === null) return null;
  const called = reason === 'architecture' ? `${name} (compute capability ${capability.join('.')})` : name;
  return appError('device_blocked', message(`blocked.${reason}`, { name: called }));
}
