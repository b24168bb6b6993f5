import { z } from 'zod';
import { noGpuCodeSchema } from '../problems.ts';
import { countSchema, helloSchema, precisionSchema, type Precision } from './common.ts';

const gpuProcessSchema = z.object({
  pid: z.int(),
  name: z.string().nullable(),
  memory_bytes: countSchema.nullable(),
});

const failedPrecisionSchema = z.object({
  precision: precisionSchema,
  /** The problem as a sentence. */
  problem: z.string(),
});
export type FailedPrecision = z.infer<typeof failedPrecisionSchema>;

const gpuSchema = z.object({
  /** The number from nvidia-smi. */
  index: countSchema,
  /** As NVML writes it. */
  uuid: z.string(),
  name: z.string(),
  memory_total_bytes: countSchema,
  memory_free_bytes: countSchema,
  processes: z.array(gpuProcessSchema),
  /** The precisions it supports by its compute capability. A worker refuses the others. */
  precisions: z.array(precisionSchema),
  /** False if the user's environment (such as CUDA_VISIBLE_DEVICES) hides this GPU. */
  visible: z.boolean(),
  /**
   * Other reasons why this GPU can't compute: a PyTorch without CUDA, a PyTorch without code for this GPU, a
   * driver too old for PyTorch, or a test computation that failed in every precision. The engine adds the last
   * three to what the backend reports.
   */
  blocked_by: z.enum(['pytorch', 'architecture', 'driver', 'trial']).nullable(),
  /**
   * Supported precisions in which the test computation of the computer check failed. The engine adds them.
   */
  failed: z.array(failedPrecisionSchema).optional(),
  compute_capability: z.tuple([countSchema, countSchema]),
  mig_enabled: z.boolean(),
  /** Set for a MIG slice: the UUID of its GPU. */
  parent_uuid: z.string().nullable(),
});
export type ProbedGpu = z.infer<typeof gpuSchema>;

/** The precisions that a GPU is offered for: those that it supports and whose test did not fail. */
export function offeredPrecisions(gpu: ProbedGpu): Precision[] {
  return gpu.precisions.filter((each) => !gpu.failed?.some(({ precision }) => precision === each));
}

/** Whether the GPU is in MIG mode: CUDA can use only its slices, not the GPU itself. */
export function isSplit(gpu: ProbedGpu): boolean {
  return gpu.mig_enabled && gpu.parent_uuid === null;
}

/** Whether a worker can compute on it, as long as the user's environment leaves it visible. */
export function canCompute(gpu: ProbedGpu): boolean {
  return !isSplit(gpu) && gpu.blocked_by === null;
}

export const probeResultSchema = z.object({
  type: z.literal('probe'),
  protocol: z.int(),
  backend_version: z.string(),
  gpus: z.array(gpuSchema),
  /** The version of NVIDIA's driver. */
  driver_version: z.string().nullable(),
  cuda_driver_version: z.string().nullable(),
  /** The CUDA version that the installed PyTorch is built for; null for another PyTorch, or none. */
  torch_cuda: z.string().nullable().optional(),
  cuda_visible_devices: z.string().nullable(),
  /** Why there are no GPUs, null if there are some. */
  no_gpu_code: noGpuCodeSchema.nullable(),
  /** What the driver's library says. */
  no_gpu_detail: z.string().nullable().optional(),
  apple_mps: z.boolean(),
  /** Like `failed` of a GPU. */
  apple_failed: z.array(failedPrecisionSchema).optional(),
  /** Like `failed` of a GPU. */
  cpu_failed: z.array(failedPrecisionSchema).optional(),
  cpu: z.object({
    name: z.string(),
    logical_cores: z.int().positive(),
    /** Two threads that share a core count once. */
    physical_cores: z.int().positive(),
    /** The precisions that it has instructions for, FP32 among them, the fastest first. */
    precisions: z.array(precisionSchema),
    memory_total_bytes: countSchema,
    memory_available_bytes: countSchema,
  }),
});
export type ProbeResult = z.infer<typeof probeResultSchema>;

const sampleSchema = z.object({
  type: z.literal('sample'),
  /** Seconds since the epoch. */
  time: z.number().positive(),
  devices: z.array(
    z.object({
      uuid: z.string(),
      utilization_percent: z.number().min(0).max(100).nullable(),
      memory_used_bytes: countSchema.nullable(),
      memory_total_bytes: countSchema.nullable(),
      temperature_c: z.number().nullable(),
      power_w: z.number().nonnegative().nullable(),
    }),
  ),
  cpu_percent: z.number().min(0).nullable(),
  memory_used_bytes: countSchema.nullable(),
});
export type DeviceSample = z.infer<typeof sampleSchema>;

export const monitorEventSchema = z.discriminatedUnion('type', [helloSchema, sampleSchema]);
export type MonitorEvent = z.infer<typeof monitorEventSchema>;
