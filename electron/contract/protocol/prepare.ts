import { z } from 'zod';
import {
  countSchema,
  helloSchema,
  runPathSchema,
  sha256Schema,
  partKeySchema,
  repairSchema,
} from './common.ts';

export const prepareCommandSchema = z.object({
  type: z.literal('prepare'),
  inputs: z.array(z.object({ input: countSchema, path: z.string(), sha256: sha256Schema.nullable() })).min(1),
  /** The run folder's `work` directory. */
  work_dir: z.string(),
  chunk_length: z.int().positive(),
  residues_per_part: z.int().positive(),
  tail_parts: countSchema,
  /** Null if the parts are cut in the order of the files. */
  order_seed: countSchema.nullable(),
  repairs: z.array(repairSchema).optional(),
});
export type PrepareCommand = z.infer<typeof prepareCommandSchema>;

const progressSchema = z.object({
  type: z.literal('progress'),
  input: countSchema,
  bytes_read: countSchema,
  records: countSchema,
  bases: countSchema,
  chunks: countSchema,
  frames: countSchema,
  parts: countSchema,
});
export type PrepareProgress = z.infer<typeof progressSchema>;

const recordsSchema = z.object({
  type: z.literal('records'),
  path: runPathSchema,
  sha256: sha256Schema,
  first_row: countSchema,
  count: countSchema,
});
export type RecordsFile = z.infer<typeof recordsSchema>;

const partSchema = z.object({
  type: z.literal('part'),
  key: partKeySchema,
  path: runPathSchema,
  sha256: sha256Schema,
  frames: countSchema,
  residues: countSchema,
  chunks: countSchema,
  first_row: countSchema,
  last_row: countSchema,
  round: countSchema,
});
export type PreparedPart = z.infer<typeof partSchema>;

export const inputProblemSchema = z.object({
  type: z.literal('input_problem'),
  input: countSchema,
  code: z.string(),
  severity: z.enum(['warning', 'skipped']),
  /** In plain words, with the count. */
  message: z.string(),
  count: countSchema,
  examples: z.array(z.object({ row: countSchema, name: z.string(), detail: z.string() })).max(5),
});
export type InputProblem = z.infer<typeof inputProblemSchema>;

const inputDoneSchema = z.object({
  type: z.literal('input_done'),
  input: countSchema,
  sha256: sha256Schema,
  records: countSchema,
  bases: countSchema,
  first_row: countSchema,
});
export type InputDone = z.infer<typeof inputDoneSchema>;

export const prepareDoneSchema = z.object({
  type: z.literal('done'),
  records: countSchema,
  chunks: countSchema,
  frames: countSchema,
  residues: countSchema,
  parts: countSchema,
  scorable_records: countSchema,
  not_scored: z.record(z.string(), countSchema),
});
export type PrepareDone = z.infer<typeof prepareDoneSchema>;

export const prepareFailureCodeSchema = z.enum([
  'input_unreadable',
  'input_truncated',
  'not_sequence_file',
  'not_compressed',
  'input_changed',
  'disk_full',
  'folder_unwritable',
  'internal_error',
]);

const prepareFailedSchema = z.object({
  type: z.literal('prepare_failed'),
  input: countSchema.nullable(),
  code: prepareFailureCodeSchema,
  message: z.string(),
  next_step: z.string(),
});
export type PrepareFailed = z.infer<typeof prepareFailedSchema>;

export const prepareEventSchema = z.discriminatedUnion('type', [
  helloSchema,
  progressSchema,
  recordsSchema,
  partSchema,
  inputProblemSchema,
  inputDoneSchema,
  prepareDoneSchema,
  prepareFailedSchema,
]);
export type PrepareEvent = z.infer<typeof prepareEventSchema>;
