import { z } from 'zod';
import { countSchema, helloSchema, runPathSchema, sha256Schema, partKeySchema } from './common.ts';

const recordsFileSchema = z.object({
  path: runPathSchema,
  sha256: sha256Schema,
  first_row: countSchema,
  count: countSchema,
});
const exampleSchema = z.object({ row: countSchema, name: z.string(), detail: z.string() });
const MOST_EXAMPLES = 5;

/** Where the reading of the inputs can go on after it was cut off: the beginning of a record, with what had been counted before it. Of the
 * records from there on, those before `records_row` are in files already, and the frames before chunk `part_chunk` of `part_row` in parts. */
export const placeSchema = z.object({
  input: countSchema,
  /** Null at the beginning of an input. */
  format: z.enum(['fasta', 'fastq']).nullable(),
  /** In the decompressed stream. */
  byte_offset: countSchema,
  row: countSchema,
  /** Of the inputs up to this one. */
  first_rows: z.array(countSchema).min(1),
  problems: z.array(
    z.object({ code: z.string(), count: countSchema, examples: z.array(exampleSchema).max(MOST_EXAMPLES) }),
  ),
  input_bases: countSchema,
  /** Byte and how often it was there. */
  other_letters: z.array(z.tuple([countSchema, countSchema])),
  bases: countSchema,
  chunks: countSchema,
  frames: countSchema,
  residues: countSchema,
  reasons: z.record(z.string(), countSchema),
  parts: countSchema,
  part_row: countSchema,
  part_chunk: countSchema,
  record_files: countSchema,
  records_row: countSchema,
});
export type Place = z.infer<typeof placeSchema>;

export const prepareCommandSchema = z.object({
  type: z.literal('prepare'),
  inputs: z.array(z.object({ input: countSchema, path: z.string(), sha256: sha256Schema.nullable() })).min(1),
  /** The run folder's `work` directory. */
  work_dir: z.string(),
  chunk_length: z.int().positive(),
  residues_per_part: z.int().positive(),
  tail_parts: countSchema,
  /** Null to read from the beginning. */
  go_on_from: z.object({ place: placeSchema, record_files: z.array(recordsFileSchema) }).nullable(),
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

const recordsSchema = recordsFileSchema.extend({ type: z.literal('records') });
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
});
export type PreparedPart = z.infer<typeof partSchema>;

export const inputProblemSchema = z.object({
  type: z.literal('input_problem'),
  input: countSchema,
  code: z.string(),
  severity: z.enum(['warning', 'skipped']),
  /** In plain words, the count included. */
  message: z.string(),
  count: countSchema,
  examples: z.array(exampleSchema).max(MOST_EXAMPLES),
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

/** Everything before the place is on disk and was reported before it. */
const placeReachedSchema = z.object({ type: z.literal('place'), place: placeSchema });

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
  placeReachedSchema,
  prepareDoneSchema,
  prepareFailedSchema,
]);
export type PrepareEvent = z.infer<typeof prepareEventSchema>;
