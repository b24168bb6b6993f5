import { z } from 'zod';
import { LIMITS, pathSchema, wordSchema } from '../limits.ts';
import { countSchema } from '../protocol/common.ts';
import { chunkResultSchema, predictionSchema, sequenceResultSchema } from '../results.ts';
import { procedure } from './procedure.ts';
import { runIdSchema } from './runs.ts';

export const sequenceFilterSchema = z.object({
  input: countSchema.optional(),
  predictions: z.array(predictionSchema).max(predictionSchema.options.length).optional(),
  minScore: z.number().min(0).max(1).optional(),
  minLength: countSchema.optional(),
  maxLength: countSchema.optional(),
  /** Part of the name or header, case-insensitive. */
  search: wordSchema.optional(),
});
export type SequenceFilter = z.infer<typeof sequenceFilterSchema>;

export const sequenceSortSchema = z.object({
  by: z.enum(['row', 'seqName', 'length', 'virusScore', 'viralFraction', 'nChunks', 'prediction']),
  descending: z.boolean(),
});
export type SequenceSort = z.infer<typeof sequenceSortSchema>;

const selection = { runId: runIdSchema, filter: sequenceFilterSchema.default({}) };

export const resultCountsSchema = z.object({
  total: countSchema,
  virus: countSchema,
  others: countSchema,
  notScored: countSchema,
  failed: countSchema,
});

export const exportFormatSchema = z.enum(['tsv', 'csv', 'fasta']);

export const resultsContract = {
  page: procedure
    .input(
      z.object({
        ...selection,
        sort: sequenceSortSchema.default({ by: 'row', descending: false }),
        offset: countSchema.default(0),
        limit: z.int().positive().max(1000).default(200),
      }),
    )
    .output(z.object({ total: countSchema, items: z.array(sequenceResultSchema) })),
  counts: procedure.input(z.object(selection)).output(resultCountsSchema),
  /** Scored sequences per virus_score bin of width 1/bins. */
  histogram: procedure
    .input(z.object({ ...selection, bins: z.int().min(5).max(200).default(50) }))
    .output(z.object({ bins: z.array(countSchema) })),
  /** The chunks of one sequence, in order along it. */
  chunks: procedure
    .input(z.object({ runId: runIdSchema, row: countSchema }))
    .output(z.object({ sequence: sequenceResultSchema, chunks: z.array(chunkResultSchema) })),
  /** Writes the sequences that pass the filter (or the given rows) to a file. */
  export: procedure
    .input(
      z.object({
        ...selection,
        rows: z.array(countSchema).max(LIMITS.rows).optional(),
        format: exportFormatSchema,
        /** Where to write; in browser mode left out, and the file is fetched by `downloadPath`. */
        path: pathSchema.optional(),
        /** A byte-order mark, for spreadsheets. */
        byteOrderMark: z.boolean().default(false),
      }),
    )
    .output(
      z.object({
        path: z.string(),
        downloadPath: z.string().nullable(),
        sequences: countSchema,
        bytes: countSchema,
      }),
    ),
};
