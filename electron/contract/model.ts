import { z } from 'zod';
import { sha256Schema } from './protocol/common.ts';

/** Files of a model folder in the order in which the model's hash reads them. */
export const MODEL_ROLES = ['esm2', 'dnabert_s', 'tokenizer', 'head'] as const;
export type ModelRole = (typeof MODEL_ROLES)[number];

const modelFileSchema = z.object({
  /** Relative to the folder, with forward slashes; may point to a folder beside it. */
  path: z.string().regex(/^(\.\.\/)?(?!\/)(?:(?!\.\.(?:\/|$))[^\\:/]+(?:\/|$))+$/),
  size: z.int().positive(),
  sha256: sha256Schema,
});
export type ModelFile = z.infer<typeof modelFileSchema>;

const size = z.int().positive();
const normBandSchema = z.tuple([z.number(), z.number()]);
export const normBandsSchema = z.object({ esm2: normBandSchema, dnabert_s: normBandSchema });

/** `model.json` of a model folder, as the Python backend writes and reads it. */
export const modelManifestSchema = z.object({
  schema: z.literal(1),
  name: z.string().min(1),
  title: z.string().min(1),
  notice: z.string().min(1).nullable(),
  chunk_length: size,
  files: z.object({
    esm2: modelFileSchema,
    dnabert_s: modelFileSchema,
    tokenizer: modelFileSchema,
    head: modelFileSchema,
  }),
  esm2: z.object({ layers: size, width: size, heads: size, feed_forward: size }),
  dnabert_s: z.object({ layers: size, width: size, heads: size, feed_forward: size, vocabulary: size }),
  /** Expected Euclidean norms; null for the teaching model and for custom ones. */
  norm_bands: normBandsSchema.nullable(),
});
export type ModelManifest = z.infer<typeof modelManifestSchema>;

/**
 * Main memory for workers on processors, in bytes: the files that all of them share, and the memory of each
 * worker.
 */
export interface CpuMemory {
  readonly sharedBytes: number;
  readonly perWorkerBytes: number;
}
