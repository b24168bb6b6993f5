import { z } from 'zod';
import { loadFailureCodeSchema, partFailureCodeSchema } from '../problems.ts';
import {
  byeSchema,
  countSchema,
  embeddingPrecisionSchema,
  helloSchema,
  logSchema,
  precisionSchema,
  sha256Schema,
  partKeySchema,
} from './common.ts';

/**
 * Where ESM-2's layers are: all on the device, or in main memory and copied to the device one after the
 * other.
 */
export const placementSchema = z.enum(['resident', 'streamed']);
export type Placement = z.infer<typeof placementSchema>;

/**
 * The memory that a model needs on its device, as a worker measured it: `fixed_bytes` and an amount for each
 * token of a batch.
 * The engine passes it to the next worker there, which measures again if its software (`code`) differs.
 */
export const memoryProfileSchema = z.object({
  placement: placementSchema,
  fixed_bytes: countSchema,
  bytes_per_token: z.int().positive(),
  code: z.string(),
});
export type MemoryProfile = z.infer<typeof memoryProfileSchema>;

const loadCommandSchema = z.object({
  type: z.literal('load'),
  /** `cuda` means the one device that CUDA_VISIBLE_DEVICES leaves visible. */
  device: z.enum(['cpu', 'cuda', 'mps']),
  model_folder: z.string(),
  precision: precisionSchema,
  /** The plan's size: every device forms batches of it, and splits them if its memory holds less. */
  tokens_per_batch: z.int().positive(),
  embed_equal_sequences_once: z.boolean(),
  embeddings: embeddingPrecisionSchema.nullable(),
  /** Largest share of the device's memory to use; null for all free memory. */
  memory_fraction: z.number().positive().max(1).nullable(),
  /** Tokens that a batch may have on this device; null for as many as fit into its memory. */
  most_tokens_per_batch: z.int().positive().nullable(),
  placement: z.enum(['auto', ...placementSchema.options]),
  memory_profile: memoryProfileSchema.nullable(),
  /** Embeddings of an earlier run: their folder, and the hash of their index. */
  imported_embeddings: z.object({ folder: z.string(), index_sha256: sha256Schema }).nullable(),
  /** The model whose classifier judges the frames of shorter chunks; null if the first one's does. */
  second_head: z.object({ folder: z.string(), model_hash: sha256Schema }).nullable(),
});

const partCommandSchema = z.object({
  type: z.literal('part'),
  part: partKeySchema,
  part_path: z.string(),
  part_sha256: sha256Schema,
  frame_begin: countSchema,
  frame_end: countSchema,
  scores_path: z.string(),
  embeddings_path: z.string().nullable(),
});
export type PartCommand = z.infer<typeof partCommandSchema>;

export const workerCommandSchema = z.discriminatedUnion('type', [
  loadCommandSchema,
  partCommandSchema,
  z.object({ type: z.literal('recall'), part: partKeySchema }),
  z.object({ type: z.literal('stop') }),
]);
export type WorkerCommand = z.infer<typeof workerCommandSchema>;

const readySchema = z.object({
  type: z.literal('ready'),
  /** UUID that the worker itself reads from its device; null on a CPU. */
  device_uuid: z.string().nullable(),
  precision: precisionSchema,
  /** The plan's size, or what fits into this device's memory. */
  tokens_per_batch: z.int().positive(),
  placement: placementSchema,
  /** Null if the device does not report its memory; memory_free_bytes is then null too. */
  memory_profile: memoryProfileSchema.nullable(),
  /** Memory that was free for this worker before it loaded the model. */
  memory_free_bytes: countSchema.nullable(),
  attention: z.string(),
  model_hash: sha256Schema,
  load_seconds: z.number().nonnegative(),
  torch_version: z.string(),
  memory_bytes: countSchema,
});
export type WorkerReady = z.infer<typeof readySchema>;

const progressSchema = z.object({
  type: z.literal('progress'),
  part: partKeySchema,
  frames_done: countSchema,
  residues_done: countSchema,
  residues_total: countSchema,
});
export type PartProgress = z.infer<typeof progressSchema>;

const normRangeSchema = z.tuple([z.number().nonnegative(), z.number().nonnegative()]);

const partDoneSchema = z.object({
  type: z.literal('part_done'),
  part: partKeySchema,
  scores_path: z.string(),
  scores_sha256: sha256Schema,
  embeddings_sha256: sha256Schema.nullable(),
  frames: countSchema,
  residues: countSchema,
  seconds: z.number().nonnegative(),
  frames_recomputed_fp32: countSchema,
  frames_failed: countSchema,
  /**
   * Frames outside the expected norms. They are scored like the others, and reported once per run with the
   * norms.
   */
  frames_outside_norm_band: countSchema,
  /** Lowest and highest Euclidean norm of the embeddings of either encoder; null if none is finite. */
  norms: z.object({ esm2: normRangeSchema, dnabert_s: normRangeSchema }).nullable(),
  /**
   * How often a batch was halved after the device ran out of memory; such scores differ within bounds and are
   * not byte-identical.
   */
  batch_halvings: countSchema,
  /** Frames whose protein, or nucleotides, were embedded together with an equal frame's. */
  repeated_proteins: countSchema,
  repeated_nucleotides: countSchema,
  /** ESM-2's batches as planned, and the tokens in them: how well sequences were packed. */
  esm2_batches: countSchema,
  esm2_tokens: countSchema,
  /** The most memory that was held on the device, and that tensors took of it; null where it is not counted. */
  peak_memory_bytes: countSchema,
  peak_allocated_bytes: countSchema.nullable(),
});
export type PartDone = z.infer<typeof partDoneSchema>;

export const partFailedSchema = z.object({
  type: z.literal('part_failed'),
  part: partKeySchema,
  /** A full or unwritable disk stops the run, and a part that was recalled has not failed. */
  code: z.enum([...partFailureCodeSchema.options, 'disk_full', 'folder_unwritable', 'recalled']),
  message: z.string(),
  detail: z.string(),
});
export type PartFailed = z.infer<typeof partFailedSchema>;

const oomSchema = z.object({
  type: z.literal('oom'),
  part: partKeySchema,
  tokens_per_batch_before: z.int().positive(),
  tokens_per_batch_after: z.int().positive(),
  /** Corrected after a batch did not fit. */
  memory_profile: memoryProfileSchema.nullable(),
});
export type OutOfMemory = z.infer<typeof oomSchema>;

const heartbeatSchema = z.object({
  type: z.literal('heartbeat'),
  /** What the worker is doing; a stall shows as a step that doesn't change for long. */
  step: z.enum(['starting', 'loading', 'idle', 'reading', 'computing', 'writing', 'stopping']),
  /** Counts every finished step, batch or file, so that a heartbeat without progress is recognised. */
  steps_done: countSchema,
  part: partKeySchema.nullable(),
  /** Processor time of all threads since the process began: a process that uses some is not hanging. */
  processor_seconds: z.number().nonnegative(),
  rss_bytes: countSchema,
  device_memory_bytes: countSchema,
});
export type Heartbeat = z.infer<typeof heartbeatSchema>;

/** Loading failed: nothing can be computed on this device. */
const loadFailedSchema = z.object({
  type: z.literal('load_failed'),
  code: loadFailureCodeSchema,
  /** What the words of the code name. */
  values: z.record(z.string(), z.string()),
  /** For the log. */
  detail: z.string(),
});

export const workerEventSchema = z.discriminatedUnion('type', [
  helloSchema,
  readySchema,
  loadFailedSchema,
  progressSchema,
  partDoneSchema,
  partFailedSchema,
  oomSchema,
  heartbeatSchema,
  logSchema,
  byeSchema,
]);
export type WorkerEvent = z.infer<typeof workerEventSchema>;
