import { z } from 'zod';
import { normBandsSchema } from './model.ts';
import {
  countSchema,
  embeddingPrecisionSchema,
  otherGeneticCodeSchema,
  precisionSchema,
  repairSchema,
  sha256Schema,
  STANDARD_GENETIC_CODE,
  type Precision,
} from './protocol/common.ts';

/**
 * The last parts of the input, this many, are cut to a quarter so that all devices finish together.
 * The number is constant, because the parts must not depend on how many workers there are.
 */
export const TAIL_PARTS = 32;
/**
 * Runs of at least this many full parts are computed as a growing sample. Smaller runs are done before
 * partial results matter, and their rounds would consist of almost empty parts.
 */
export const SAMPLE_FROM_PARTS = 16;
/** The first round of runs of older versions, and of small ones. */
const OLDER_FIRST_ROUND = 1 / 256;
/** Chunks a file, of which a first estimate is made from half to all: wide, and after two minutes on a processor. */
const MOST_IN_FIRST_ROUND = 20;

/** The share of every sequence's chunks that the first round of a run has: a power of 1/2, as rounds double until all is in them. */
export function firstRound(chunks: number, files: number): number {
  return Math.min(
    OLDER_FIRST_ROUND,
    2 ** Math.floor(Math.log2((MOST_IN_FIRST_ROUND * files) / Math.max(1, chunks))),
  );
}

/**
 * Apple's GPUs are many times slower than an H200, and no batch may take them minutes. These sizes were not
 * measured there.
 */
const RESIDUES_PER_PART = { gpu: 262_144, apple: 32_768, cpu: 2_048 } as const;
/**
 * Part size on processors for runs of at least this many such parts, which keep any number of processors busy
 * to the end, so the number of processors need not be known. Each part reads and converts the weights of all
 * layers once, so larger parts do that less often;
 * all tokens of a part of this size go through a layer together (SWEEP_TOKENS in encoders/mapped_layers.py).
 */
const LARGE_RUN = { parts: 1_024, residuesPerPart: 6_144 } as const;

/** Residues of a part of a run that has this many residues in all. */
export function residuesPerPart(hardware: Hardware, residues: number): number {
  const isLarge = residues >= LARGE_RUN.parts * LARGE_RUN.residuesPerPart;
  return hardware === 'cpu' && isLarge ? LARGE_RUN.residuesPerPart : RESIDUES_PER_PART[hardware];
}

/**
 * Measured (docs/performance.md): larger batches gain less than 1 % on an H200, and this many tokens fit into
 * 8 GB beside ESM-2 3B. A processor with AMX computes 15 % more with 2,048 than with 512, as every product reads
 * all weights of its layer; for other processors it is the same.
 */
export const TOKENS_PER_BATCH = { gpu: 24_576, apple: 4_096, cpu: 2_048 } as const;
export type Hardware = keyof typeof TOKENS_PER_BATCH;
export const CHUNK_LENGTH_LIMITS = { min: 30, max: 10_000 } as const;

export const orderSchema = z.enum(['sample', 'file']);
export type Order = z.infer<typeof orderSchema>;

const planInputSchema = z.object({
  path: z.string(),
  sizeBytes: countSchema,
  sha256: sha256Schema,
  /**
   * Only in files that a run took in once it had gone on without one: what is mended in it. It is read last, and its
   * parts are its own, so that those before it stay as they are.
   */
  added: z.object({ repairs: z.array(repairSchema) }).optional(),
});
export type PlanInput = z.infer<typeof planInputSchema>;

const planModelSchema = z.object({
  name: z.string(),
  title: z.string(),
  hash: sha256Schema,
  folder: z.string(),
  /** Shown wherever results are shown, such as "teaching model, not for research". */
  notice: z.string().nullable(),
  /**
   * Euclidean norms that embeddings are expected to have; frames outside are counted, and still scored.
   * Absent if no norms are known.
   */
  normBands: normBandsSchema.nullish(),
});
export type PlanModel = z.infer<typeof planModelSchema>;

/**
 * A second look at chunks without an open reading frame, in shorter chunks. `model` is the one trained for their
 * length, with the same encoders; without it, the run's only classifier judges them too.
 */
const secondLookSchema = z.object({ chunkLength: z.int().positive(), model: planModelSchema.optional() });

/** Marks every file that is made with a model not for research; null for all other models. */
export function modelMark({ notice }: Pick<PlanModel, 'notice'>): string | null {
  return notice === null ? null : `[${notice}]`;
}

/** Ends the names of folders and files that are made with a model not for research. */
export const MARK_SUFFIX = '_NOT_FOR_RESEARCH';

/** Where the embeddings taken over from an earlier run are in a run's folder. */
export const IMPORTED_EMBEDDINGS_FOLDER = 'work/imported';

/** Embeddings of a run of the original tool, or of its fork, that are reused. */
export const importedEmbeddingsSchema = z.object({
  folder: z.string(),
  tool: z.enum(['original', 'fork']),
  /** The precision in which they were computed, if the earlier tool recorded it. */
  precision: z.string().nullable(),
  indexSha256: sha256Schema,
  /** Open reading frames of the inputs, and how many of them have an embedding of either encoder. */
  frames: countSchema,
  framesDnabertS: countSchema,
  framesEsm2: countSchema,
  /** Rows of the reused files that were skipped because their numbers can't be right. */
  rowsLeftOut: countSchema,
  filesUsed: countSchema,
  filesRefused: countSchema,
  /** Some of the files that were not used, and why. */
  refused: z.array(z.object({ path: z.string(), why: z.string() })),
});
export type ImportedEmbeddings = z.infer<typeof importedEmbeddingsSchema>;

/**
 * Scores of sequences that the user trusts to be no virus, from which the run computes p-values: for each
 * length class how many have a score, and some of the scores, in descending order.
 */
export const trustedSchema = z.object({
  /** The file's name. */
  file: z.string(),
  calibratedAt: z.iso.datetime(),
  classes: z.array(
    z.object({ from: countSchema, scored: countSchema, scores: z.array(z.number().min(0).max(1)) }),
  ),
});
export type Trusted = z.infer<typeof trustedSchema>;

/** The choices that decide a run's results. Stored when the run is created; never changed, but that inputs can be added. */
export const planSchema = z.object({
  inputs: z.array(planInputSchema).min(1),
  model: planModelSchema,
  chunkLength: z.int().min(CHUNK_LENGTH_LIMITS.min).max(CHUNK_LENGTH_LIMITS.max),
  /** Absent in runs with one chunk length. */
  secondLook: secondLookSchema.optional(),
  precision: precisionSchema,
  tokensPerBatch: z.int().positive(),
  residuesPerPart: z.int().positive(),
  tailParts: countSchema,
  /** The order in which chunks are computed: as a growing even sample of all inputs, or file after file. */
  order: orderSchema,
  /** Seed for the order `sample`: see docs/results.md. */
  orderSeed: countSchema,
  /** The share of every sequence's chunks in the first round of the order `sample`; absent in older runs. */
  firstRound: z.number().positive().max(1).default(OLDER_FIRST_ROUND),
  /** Whether frames of a part with the same letters share one encoder pass. */
  embedEqualSequencesOnce: z.boolean(),
  embeddings: embeddingPrecisionSchema.nullable(),
  /** Absent if inputs are read unchanged. */
  repairs: z.array(repairSchema).min(1).optional(),
  /** Bases of the shortest sequence that is computed; absent if all are. */
  minLength: z.int().positive().optional(),
  /** Absent if sequences are translated by the standard genetic code. */
  geneticCode: otherGeneticCodeSchema.optional(),
  imported: importedEmbeddingsSchema.nullish(),
  /** Folder of a finished run of this program: what it computed of the same parts is taken over. */
  earlier: z.string().optional(),
  /** Absent if the model had no calibration for this chunk length when the run was created. */
  trusted: trustedSchema.optional(),
});
export type Plan = z.infer<typeof planSchema>;

/** The bundled sequences with known scores, as the program and its copy in the data folder name them. */
export const EXAMPLE_FILE = 'example.fa';

/** Whether a run computes only the bundled example, in the window or in a terminal. */
export function isExample({
  plan: { model, inputs },
}: {
  readonly plan: Pick<Plan, 'model' | 'inputs'>;
}): boolean {
  const names = inputs.map(({ path }) => path.split(/[\\/]/).at(-1));
  return model.name === 'teaching' && names.length > 0 && names.every((name) => name === EXAMPLE_FILE);
}

/** What decides the calls of a sequence. */
type Calling = Cut & Pick<Plan, 'model' | 'precision' | 'minLength' | 'geneticCode' | 'repairs'>;

/** In what two runs differ, so that no table may hold calls of both; null if in nothing. */
export function differenceOf(one: Calling, other: Calling): string | null {
  const facts = (plan: Calling): Record<string, string> => ({
    model: [plan.model.hash, plan.secondLook?.model?.hash ?? ''].join(' '),
    'chunk length': chunkLengthsText(plan),
    precision: plan.precision,
    'minimum length': String(plan.minLength ?? 'none'),
    'genetic code': String(plan.geneticCode ?? STANDARD_GENETIC_CODE),
    'mending of sequences': (plan.repairs ?? []).join(', '),
  });
  const wanted = facts(one);
  return Object.entries(facts(other)).find(([what, value]) => value !== wanted[what])?.[0] ?? null;
}

/** How a run cuts its sequences. */
export type Cut = Pick<Plan, 'chunkLength' | 'secondLook'>;

/** `500`, or `500+300` in a run with a second look, as users write it. */
export function chunkLengthsText({ chunkLength, secondLook }: Cut): string {
  return secondLook ? `${chunkLength}+${secondLook.chunkLength}` : String(chunkLength);
}

/** The length of the shortest chunks that are looked at: no frame has to be open over more. */
export function shortestChunk({ chunkLength, secondLook }: Cut): number {
  return secondLook?.chunkLength ?? chunkLength;
}

/** The lengths that a second look may have: a chunk is then cut into at most two. */
export function isSecondLength(second: number, first: number): boolean {
  return 2 * second >= first && second < first;
}

/**
 * The largest score difference when a part was bisected or its batches were halved, measured per precision on
 * an H200 with random weights (docs/performance.md) and rounded up.
 */
export const BOUNDED_TOLERANCE: Record<Precision, number> = { fp32: 1e-5, fp16: 1e-5, bf16: 1e-5, fp8: 1e-5 };
