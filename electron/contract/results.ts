import { z } from 'zod';
import { countSchema } from './protocol/common.ts';

export const predictionSchema = z.enum(['virus', 'others', 'not_scored', 'failed']);
export type Prediction = z.infer<typeof predictionSchema>;

export const predictionCountsSchema = z.record(predictionSchema, countSchema);
type PredictionCounts = z.infer<typeof predictionCountsSchema>;

export const noPredictions = (): PredictionCounts => ({ virus: 0, others: 0, not_scored: 0, failed: 0 });

/** The share of viruses among the sequences with a call; null if none has one. */
export function viralShare({ virus, others }: PredictionCounts): number | null {
  return virus + others === 0 ? null : virus / (virus + others);
}

export const reasonSchema = z.enum([
  'ok',
  'empty',
  'below_min_length',
  'no_open_frame',
  'invalid_characters',
  'malformed_record',
  'worker_failure',
  'out_of_memory',
  'non_finite',
  'not_computed',
]);
export type Reason = z.infer<typeof reasonSchema>;

export const FRAME_NAMES = ['F1', 'F2', 'F3', 'R1', 'R2', 'R3'] as const;

/** The frames of a chunk, and of its two shorter chunks, a and b, which a second look judges. */
export const ALL_FRAME_NAMES = [
  ...FRAME_NAMES,
  ...(['F1a', 'F2a', 'F3a', 'R1a', 'R2a', 'R3a'] as const),
  ...(['F1b', 'F2b', 'F3b', 'R1b', 'R2b', 'R3b'] as const),
] as const;
export type FrameName = (typeof ALL_FRAME_NAMES)[number];

/** The frame of a strand, without the shorter chunk in which it lies. */
export function strandFrame(frame: FrameName): (typeof FRAME_NAMES)[number] {
  return FRAME_NAMES.find((name) => frame.startsWith(name)) ?? 'F1';
}

/**
 * How strongly the data of a sequence support its call: see `evidenceOf` in
 * electron/engine/results/sequenceRemarks.ts.
 */
export const evidenceSchema = z.enum(['undecided', 'weak', 'moderate', 'strong']);
export type Evidence = z.infer<typeof evidenceSchema>;

/** The score to show with four digits, so that one below the threshold between the calls is not rounded to it. */
export function shownScore(score: number): number {
  return score < 0.5 ? Math.min(score, 0.4999) : score;
}

/** Files that a finished run leaves in its folder. */
export const RESULT_FILES = {
  originalFrames: 'prediction_results.txt',
  originalChunks: 'prediction_results_highestscore.csv',
  sequences: 'sequences.tsv',
  chunks: 'chunks.tsv',
  /** The rows of sequences.tsv with headers and evidence, in a format that pandas, R and DuckDB can read. */
  results: 'results.parquet',
  viralSequences: 'viral_sequences.fna',
  failedFiles: 'failed_files.txt',
  failedRecords: 'failed_records.tsv',
  run: 'run.json',
} as const;

/** The tables that a run may leave out, as they can be written from the rest. */
export const TEXT_TABLES = ['sequences', 'chunks', 'originalFrames', 'originalChunks'] as const;
export type TextTable = (typeof TEXT_TABLES)[number];

/** Lies in the folder of a run that stopped at its goal, until it computes more. */
export const PROVISIONAL_TABLE = 'sequences_provisional.tsv';
/** The files that most people open, the most important first. */
export const MAIN_FILES: readonly string[] = [
  RESULT_FILES.viralSequences,
  RESULT_FILES.sequences,
  RESULT_FILES.results,
];

/**
 * Lies in the folder of a run with the teaching model, because the tables in the original tool's format
 * cannot carry the notice.
 */
export const NOTICE_FILE = 'NOT_FOR_RESEARCH.txt';

export const chunkResultSchema = z.object({
  chunk: countSchema,
  start: countSchema,
  end: countSchema,
  frames: z.array(z.object({ frame: z.enum(ALL_FRAME_NAMES), score1: z.number(), score2: z.number() })),
  /** The frame that decides the call. */
  bestFrame: z.enum(ALL_FRAME_NAMES).nullable(),
  /** Length of the chunks whose model judged it; null without a call. */
  judgedBy: countSchema.nullable(),
  /** The largest score of each class among the frames. */
  score1: z.number().nullable(),
  score2: z.number().nullable(),
  virusScore: z.number().nullable(),
  isVirus: z.boolean().nullable(),
  reason: reasonSchema,
});
export type ChunkResult = z.infer<typeof chunkResultSchema>;

/** What a chunk has that nothing judged, besides its place and the reason. */
export const NOT_JUDGED = {
  frames: [],
  bestFrame: null,
  score1: null,
  score2: null,
  virusScore: null,
  isVirus: null,
  judgedBy: null,
} satisfies Partial<ChunkResult>;
