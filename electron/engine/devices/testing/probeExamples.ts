/**
 * Computers for tests, in the format of the backend's answer. They are invented; the names and capabilities
 * are real.
 */
import { PROTOCOL_VERSION, type ProbedGpu, type ProbeResult } from '../../../contract/protocol/index.ts';

const GIB = 1024 ** 3;

function gpu(index: number, uuid: string, facts: Partial<ProbedGpu>): ProbedGpu {
  return {
    index,
    uuid,
    name: 'NVIDIA H200',
    memory_total_bytes: 140 * GIB,
    memory_free_bytes: 139 * GIB,
    compute_capability: [9, 0],
    precisions: ['fp8', 'bf16', 'fp16', 'fp32'],
    mig_enabled: false,
    parent_uuid: null,
    processes: [],
    visible: true,
    blocked_by: null,
    ...facts,
  };
}

function computer(gpus: ProbedGpu[], facts: Partial<ProbeResult> = {}): ProbeResult {
  return {
    type: 'probe',
    protocol: PROTOCOL_VERSION,
    backend_version: '0.1.0',
    gpus,
    driver_version: gpus.length > 0 ? '580.65.06' : null,
    cuda_driver_version: gpus.length > 0 ? '13.0' : null,
    cuda_visible_devices: null,
    no_gpu_code: gpus.length > 0 ? null : 'driver_missing',
    apple_mps: false,
    cpu: {
      name: 'Intel(R) Xeon(R) Platinum 8480+',
      logical_cores: 4,
      physical_cores: 4,
      precisions: ['fp32'],
      memory_total_bytes: 64 * GIB,
      memory_available_bytes: 48 * GIB,
    },
    ...facts,
  };
}

export const NO_GPU = computer([]);
export const APPLE = computer([], { apple_mps: true });

export const EIGHT_H200 = computer(
  Array.from({ length: 8 }, (_, index) =>
    gpu(index, `GPU-${index}a1f5c3e-0000-4000-8000-00000000000${index}`, {}),
  ),
);

/** The same eight with CUDA_VISIBLE_DEVICES=2,3. */
export const EIGHT_H200_TWO_VISIBLE = computer(
  EIGHT_H200.gpus.map((each) => ({ ...each, visible: each.index === 2 || each.index === 3 })),
  { cuda_visible_devices: '2,3' },
);

export const H100_IN_MIG_MODE = computer([
  gpu(0, 'GPU-5c8a-whole', { name: 'NVIDIA H100 80GB HBM3', mig_enabled: true }),
  gpu(0, 'MIG-11aa-first', {
    name: 'NVIDIA H100 MIG 3g.40gb',
    mig_enabled: true,
    parent_uuid: 'GPU-5c8a-whole',
  }),
  gpu(0, 'MIG-11bb-second', {
    name: 'NVIDIA H100 MIG 3g.40gb',
    mig_enabled: true,
    parent_uuid: 'GPU-5c8a-whole',
  }),
  gpu(1, 'GPU-77d0-whole', { name: 'NVIDIA H100 80GB HBM3' }),
]);

export const MIG_MODE_WITHOUT_SLICES = computer([gpu(0, 'GPU-5c8a-whole', { mig_enabled: true })]);

export const A100_AND_TURING = computer([
  gpu(0, 'GPU-aaaa-a100', {
    name: 'NVIDIA A100 80GB PCIe',
    compute_capability: [8, 0],
    precisions: ['bf16', 'fp16', 'fp32'],
  }),
  gpu(1, 'GPU-bbbb-2080', {
    name: 'NVIDIA GeForce RTX 2080 Ti',
    compute_capability: [7, 5],
    precisions: ['fp16', 'fp32'],
  }),
]);

export const PASCAL = computer([
  gpu(0, 'GPU-cccc-1080', {
    name: 'NVIDIA GeForce GTX 1080',
    compute_capability: [6, 1],
    precisions: ['fp32'],
    memory_total_bytes: 8 * GIB,
  }),
]);

/** A Volta with the PyTorch for CUDA 13, which no longer supports it, beside a GPU that it supports. */
export const VOLTA_AND_HOPPER = computer(
  [
    gpu(0, 'GPU-dddd-v100', { name: 'Tesla V100-SXM2-16GB', compute_capability: [7, 0] }),
    gpu(1, 'GPU-eeee-h100', { name: 'NVIDIA H100 80GB HBM3' }),
  ],
  { torch_cuda: '13.0' },
);
export const OLD_DRIVER = computer([gpu(0, 'GPU-eeee-h100', { name: 'NVIDIA H100 80GB HBM3' })], {
  driver_version: '550.90.07',
  cuda_driver_version: '12.4',
  torch_cuda: '13.0',
});

/** A GPU whose environment was created before its driver was installed. */
export const H200_WITHOUT_CUDA = computer([
  gpu(0, 'GPU-0a1f5c3e-0000-4000-8000-000000000000', { blocked_by: 'pytorch' }),
]);
