import { z } from 'zod';
import { fileProblemCodeSchema, readingCodeSchema } from '../problems.ts';
import {
  countSchema,
  helloSchema,
  otherGeneticCodeSchema,
  runPathSchema,
  sha256Schema,
  partKeySchema,
  repairSchema,
} from './common.ts';

export const prepareCommandSchema = z.object({
  type: z.literal('prepare'),
  inputs: z
    .array(
      z.object({
        input: countSchema,
        path: z.string(),
        sha256: sha256Schema.nullable(),
        repairs: z.array(repairSchema).optional(),
        /** No part has frames of this input and of those before it. */
        begins_parts: z.boolean().optional(),
      }),
    )
    .min(1),
  /** The run folder's `work` directory. */
  work_dir: z.string(),
  chunk_length: z.int().positive(),
  /** Length of the shorter chunks for chunks without an open frame; absent if there is no second look. */
  second_chunk_length: z.int().positive().optional(),
  residues_per_part: z.int().positive(),
  tail_parts: countSchema,
  /** Null if the parts are cut in the order of the files. */
  order_seed: countSchema.nullable(),
  /** See `Plan`. */
  first_round: z.number().positive().max(1).optional(),
  min_length: z.int().positive().optional(),
  genetic_code: otherGeneticCodeSchema.optional(),
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

const problemExampleSchema = z.object({ row: countSchema, name: z.string(), detail: z.string() });

/** Something that the records of a file have, or the whole file. */
export const problemSchema = z.object({
  code: fileProblemCodeSchema,
  values: z.record(z.string(), z.string()),
  count: countSchema,
  /** The first ones; of damage many in a run, since failed_records.tsv lists it. */
  examples: z.array(problemExampleSchema).max(1000),
});

export const inputProblemSchema = problemSchema.extend({
  type: z.literal('input_problem'),
  input: countSchema,
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

/** What ended the reading, in the words of contract/problems.ts. */
export const failureSchema = z.object({
  code: readingCodeSchema,
  values: z.record(z.string(), z.string()),
});

export const failureOfFileSchema = failureSchema.extend({ file: z.string().nullable() });

const prepareFailedSchema = failureSchema.extend({
  type: z.literal('prepare_failed'),
  input: countSchema.nullable(),
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

/**
 * What chunks of a length judge of a file, or those of a second length within chunks of the first that have no
 * open frame. Exact, apart from sequences of more than four million bases.
 */
const judgedSchema = z.object({
  /** Sequences, and bases of chunks, with an open frame. */
  sequences: countSchema,
  bases: countSchema,
  /** Sequences that are shorter than the look's shortest chunks. */
  shorter: countSchema,
  chunks: countSchema,
  frames: countSchema,
  residues: countSchema,
});
export type Judged = z.infer<typeof judgedSchema>;

/** One line of `virnucpro_backend.prepare.inspect` per file: what the file holds and what will happen to it. */
export const inspectedFileSchema = z.object({
  type: z.literal('inspected'),
  path: z.string(),
  size_bytes: countSchema,
  sha256: sha256Schema.nullable(),
  format: z.enum(['fasta', 'fastq', 'unknown']),
  compression: z.enum(['none', 'gzip', 'bzip2', 'xz', 'lzma', 'zstd']),
  sequences: countSchema,
  bases: countSchema,
  min_length: countSchema,
  median_length: countSchema,
  max_length: countSchema,
  empty: countSchema,
  invalid_characters: countSchema,
  malformed: countSchema,
  /** To what each byte of the unpacked file belongs; the four add up to it, as far as it could be read. */
  bytes: z.object({
    used: countSchema,
    damaged: countSchema,
    left_out: countSchema,
    passed_over: countSchema,
  }),
  duplicate_ids: countSchema,
  /** Whole header lines that repeat: this many names would still repeat if the whole line were the name. */
  duplicate_headers: countSchema,
  /**
   * Hashes of all names up to every `step`-th sequence, and of all names of the file, each as eight hexadecimal
   * digits; a final /1 or /2 of a name is left out. `step` is a power of two.
   */
  name_marks: z.object({ step: z.int().positive(), marks: z.string() }),
  /** Share of letters other than A, C, G, T. */
  ambiguous_fraction: z.number().min(0).max(1),
  /** By look, such as `500` or `500+300`. */
  judged: z.record(z.string(), judgedSchema),
  problems: z.array(problemSchema),
});
export type InspectedFile = z.infer<typeof inspectedFileSchema>;
export type InputFileProblem = z.infer<typeof problemSchema>;
