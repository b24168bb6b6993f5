import { z } from 'zod';
import { normBandsSchema } from './model.ts';
import {
  countSchema,
  embeddingPrecisionSchema,
  precisionSchema,
  repairSchema,
  sha256Schema,
  type Precision,
} from './protocol/common.ts';

/** Parts this many from the end of the input are cut to a quarter, so that all devices end together.
 * A constant, and not per worker: the parts must not depend on how many workers there are. */
export const TAIL_PARTS = 32;
/** From so many full parts on a run is computed as a growing sample: a smaller one is done before anybody wants to know more, and
 * its rounds would be of parts that are hardly filled. */
export const SAMPLE_FROM_PARTS = 16;
/** Apple's GPUs are many times slower than an H200; no batch may take them minutes. Never measured. */
export const RESIDUES_PER_PART = { gpu: 262_144, apple: 32_768, cpu: 2_048 } as const;
/** On processors, in runs of at least so many parts of this size: they keep any number of processors busy to the end, which is why the
 * number at hand need not count. For each part all layers' weights are read and converted once, so larger ones have that less often;
 * all tokens of one of this size go through a layer together (SWEEP_TOKENS in encoders/mapped_layers.py). */
const LARGE_RUN = { parts: 1_024, residuesPerPart: 6_144 } as const;

/** Residues of a part of a run that has so many in all. */
export function residuesPerPart(hardware: Hardware, residues: number): number {
  const isLarge = residues >= LARGE_RUN.parts * LARGE_RUN.residuesPerPart;
  return hardware === 'cpu' && isLarge ? LARGE_RUN.residuesPerPart : RESIDUES_PER_PART[hardware];
}

/** As measured on an H200 (docs/performance.md): larger batches gain less than 1 %, and this many fit beside ESM-2 3B into
 * 8 GB. On a CPU larger batches gain nothing, and a layer of one of this size, which is a step, takes a slow core about a second. */
export const TOKENS_PER_BATCH = { gpu: 24_576, apple: 4_096, cpu: 512 } as const;
export type Hardware = keyof typeof TOKENS_PER_BATCH;
export const CHUNK_LENGTH_LIMITS = { min: 30, max: 10_000 } as const;

export const orderSchema = z.enum(['sample', 'file']);
export type Order = z.infer<typeof orderSchema>;

const planInputSchema = z.object({
  path: z.string(),
  sizeBytes: countSchema,
  sha256: sha256Schema,
});

const planModelSchema = z.object({
  name: z.string(),
  title: z.string(),
  hash: sha256Schema,
  folder: z.string(),
  /** Shown wherever results are shown, such as "teaching model, not for research". */
  notice: z.string().nullable(),
  /** Euclidean norms that embeddings are expected to have; what lies outside is counted, and scored. Absent where none are
   * known, and in runs from before it was noted. */
  normBands: normBandsSchema.nullish(),
});
export type PlanModel = z.infer<typeof planModelSchema>;

/** Stands in every file that is made with a model not for research; null for all other models. */
export function modelMark({ notice }: Pick<PlanModel, 'notice'>): string | null {
  return notice === null ? null : `[${notice}]`;
}

/** Ends the names of folders and files that are made with such a model. */
export const MARK_SUFFIX = '_NOT_FOR_RESEARCH';

/** Where in a run's folder the embeddings are that were taken over from an earlier run. */
export const IMPORTED_EMBEDDINGS_FOLDER = 'work/imported';

/** Embeddings of a run of the original tool, or of its fork, that need not be computed again. */
export const importedEmbeddingsSchema = z.object({
  folder: z.string(),
  tool: z.enum(['original', 'fork']),
  /** What they were computed in, where the earlier tool has noted it. */
  precision: z.string().nullable(),
  indexSha256: sha256Schema,
  /** Open reading frames of the inputs, and how many of them have an embedding of either encoder. */
  frames: countSchema,
  framesDnabertS: countSchema,
  framesEsm2: countSchema,
  /** Rows of used files with numbers that can't be right. */
  rowsLeftOut: countSchema,
  filesUsed: countSchema,
  filesRefused: countSchema,
  /** Some of the files that were not used, and why. */
  refused: z.array(z.object({ path: z.string(), why: z.string() })),
});
export type ImportedEmbeddings = z.infer<typeof importedEmbeddingsSchema>;

/** Scores of sequences that the user trusts to be no virus, against which the run gives p-values: of each class of length how many
 * have a score, and some of the scores, from the highest on. */
export const trustedSchema = z.object({
  /** Name of the file. */
  file: z.string(),
  calibratedAt: z.iso.datetime(),
  classes: z.array(
    z.object({ from: countSchema, scored: countSchema, scores: z.array(z.number().min(0).max(1)) }),
  ),
});
export type Trusted = z.infer<typeof trustedSchema>;

/** What decides the numbers of a run. Stored at creation, never changed. */
export const planSchema = z.object({
  inputs: z.array(planInputSchema).min(1),
  model: planModelSchema,
  chunkLength: z.int().min(CHUNK_LENGTH_LIMITS.min).max(CHUNK_LENGTH_LIMITS.max),
  precision: precisionSchema,
  tokensPerBatch: z.int().positive(),
  residuesPerPart: z.int().positive(),
  tailParts: countSchema,
  /** In which order chunks are computed: as an even sample of all inputs that grows, or file after file, as runs were before it was a
   * choice. */
  order: orderSchema.default('file'),
  /** Of the rule of `sample`: docs/results.md. */
  orderSeed: countSchema.default(0),
  /** Frames of a part with the same letters share one pass of an encoder. Runs from before it was a choice had it off. */
  embedEqualSequencesOnce: z.boolean().default(false),
  embeddings: embeddingPrecisionSchema.nullable(),
  /** Absent where inputs are read as they are. */
  repairs: z.array(repairSchema).min(1).optional(),
  imported: importedEmbeddingsSchema.nullish(),
  /** Absent where the model had no calibration for chunks of this length when the run was made. */
  trusted: trustedSchema.optional(),
});
export type Plan = z.infer<typeof planSchema>;

/** Largest difference of a score where a part was bisected or its batches were halved, as measured per precision on an H200
 * with random weights (docs/performance.md), rounded up. */
export const BOUNDED_TOLERANCE: Record<Precision, number> = { fp32: 1e-5, fp16: 1e-5, bf16: 1e-5, fp8: 1e-5 };
