import type { ProbedGpu, FailedPrecision, Precision } from '../../contract/protocol/index.ts';
import { appError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';

interface Gpu {
  /** The UUID, or another name for an AMD GPU that has none. */
  readonly id: string;
  /** nvidia-smi's number; for AMD's, that of ROCm's runtime. */
  readonly index: number;
  readonly name: string;
  readonly memoryTotalBytes: number;
  readonly memoryFreeBytes: number;
  readonly precisions: readonly Precision[];
  /** What it failed at in the test computation. */
  readonly failed?: readonly FailedPrecision[] | undefined;
}

/** A device that a worker will hold, as chosen by the user or by `auto`. */
export type ChosenDevice =
  | {
      readonly kind: 'cpu';
      /** cpu:0, cpu:1, ... */
      readonly id: string;
      readonly name: string;
      /** The fastest first. */
      readonly precisions: readonly Precision[];
      readonly failed?: readonly FailedPrecision[] | undefined;
    }
  | ({ readonly kind: 'cuda'; readonly capability: readonly [major: number, minor: number] } & Gpu)
  | ({ readonly kind: 'rocm'; /** Such as gfx1100. */ readonly gfxTarget: string } & Gpu)
  | {
      readonly kind: 'mps';
      readonly id: 'mps';
      readonly name: string;
      readonly failed?: readonly FailedPrecision[] | undefined;
    };

/** A GPU with memory of its own. */
export function isGpu(device: ChosenDevice): device is Extract<ChosenDevice, Gpu> {
  return device.kind === 'cuda' || device.kind === 'rocm';
}

/** A GPU of this computer as a device to choose. */
export function gpuDevice(gpu: ProbedGpu): ChosenDevice {
  const facts = {
    id: gpu.uuid,
    index: gpu.index,
    name: gpu.name,
    memoryTotalBytes: gpu.memory_total_bytes,
    memoryFreeBytes: gpu.memory_free_bytes,
    precisions: gpu.precisions,
    failed: gpu.failed,
  };
  return gpu.vendor === 'nvidia'
    ? { kind: 'cuda', capability: gpu.compute_capability, ...facts }
    : { kind: 'rocm', gfxTarget: gpu.gfx_target, ...facts };
}

/** Variables that pin a worker to its device, for `pythonLaunch`'s overrides. */
export function workerEnvironment(device: ChosenDevice): Record<string, string> {
  switch (device.kind) {
    case 'cuda':
      return { CUDA_VISIBLE_DEVICES: device.id, CUDA_DEVICE_ORDER: 'PCI_BUS_ID' };
    case 'rocm':
      // Of what ROCR_VISIBLE_DEVICES leaves, HIP takes the first: the user's own setting would renumber it. The number
      // is ROCm's among all GPUs, for those without a UUID. A PyTorch for CUDA must not take an NVIDIA GPU instead.
      return {
        ROCR_VISIBLE_DEVICES: device.id.startsWith('GPU-') ? device.id : String(device.index),
        HIP_VISIBLE_DEVICES: '0',
        CUDA_VISIBLE_DEVICES: '',
      };
    case 'cpu':
      // One thread per worker: sums must not depend on how many cores there are.
      return { CUDA_VISIBLE_DEVICES: '', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' };
    case 'mps':
      return { CUDA_VISIBLE_DEVICES: '' };
  }
}

/** Whether a worker has found itself on another GPU, or slice of one, than it was meant for. Other devices have no such UUID. */
export function isOtherGpu(meant: string, found: string): boolean {
  return /^(gpu|mig)-/i.test(meant) && found.toLowerCase() !== meant.toLowerCase();
}

/** Whoever computes on one should compare a few results with the processor's. */
export const AMD_UNTESTED = 'AMD GPUs were never tested with this program';

/** What a GPU can do, by its maker's measure. */
export function abilityWords(gpu: ProbedGpu): string {
  return gpu.vendor === 'nvidia'
    ? `compute capability ${gpu.compute_capability.join('.')}`
    : `${gpu.gfx_target}${gpu.integrated ? ', part of the processor' : ''}`;
}

/** What keeps a GPU from computing, and what helps; null where nothing does. `name`: what to call it. */
export function blockedGpu(gpu: ProbedGpu, name: string): AppError | null {
  const reason = reasonOf(gpu);
  if (reason === null) return null;
  const called = reason === 'architecture' ? `${name}${capabilityOf(gpu)}` : name;
  return appError('device_blocked', message(`blocked.${reason}`, { name: called }), {
    nextStep: message(`blocked.${reason}.next`),
  });
}

function reasonOf({ blocked_by: reason, vendor }: ProbedGpu) {
  if (reason === 'pytorch') return vendor === 'amd' ? 'pytorch_rocm' : 'pytorch_cuda';
  return reason;
}

function capabilityOf(gpu: ProbedGpu): string {
  return gpu.vendor === 'nvidia' ? ` (compute capability ${gpu.compute_capability.join('.')})` : '';
}
