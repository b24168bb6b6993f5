import { z } from 'zod';
import { countSchema, sha256Schema } from './common.ts';

const problemSchema = z.object({
  code: z.string(),
  severity: z.enum(['blocks', 'skipped', 'warning']),
  count: countSchema,
  message: z.string(),
  what_happens: z.string(),
  /** The format of a file without sequences, such as `genbank`; absent if unknown. */
  kind: z.string().optional(),
});

/** One line of `virnucpro_backend.prepare.inspect` per file: what the file holds and what will happen to it. */
export const inspectedFileSchema = z.object({
  type: z.literal('inspected'),
  path: z.string(),
  size_bytes: countSchema,
  sha256: sha256Schema.nullable(),
  format: z.enum(['fasta', 'fastq', 'unknown']),
  compression: z.enum(['none', 'gzip', 'bzip2', 'xz', 'zstd']),
  sequences: countSchema,
  bases: countSchema,
  min_length: countSchema,
  median_length: countSchema,
  max_length: countSchema,
  /** Sequences per length bin; bin i holds lengths from `length_bin_edges[i]` to below `length_bin_edges[i + 1]`. */
  length_bin_edges: z.array(countSchema),
  length_histogram: z.array(countSchema),
  below_chunk_length: countSchema,
  empty: countSchema,
  invalid_characters: countSchema,
  malformed: countSchema,
  duplicate_ids: countSchema,
  /** Whole header lines that repeat: this many names would still repeat if the whole line were the name. */
  duplicate_headers: countSchema,
  /** Share of letters other than A, C, G, T. */
  ambiguous_fraction: z.number().min(0).max(1),
  chunks: countSchema,
  /** Estimated open reading frames of the file, and their residues, from a sample of its chunks. */
  frames: countSchema,
  residues: countSchema,
  problems: z.array(problemSchema),
});
export type InspectedFile = z.infer<typeof inspectedFileSchema>;
export type InputFileProblem = z.infer<typeof problemSchema>;
