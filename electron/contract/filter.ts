import { z } from 'zod';
import { COLUMN_LIMITS, isFraction, type LimitField } from './columns.ts';
import { LIMITS, wordSchema } from './limits.ts';
import { agreementSchema } from './otherTools.ts';
import { countSchema } from './protocol/common.ts';
import { evidenceSchema, predictionSchema, reasonSchema } from './results.ts';

const limits = Object.fromEntries(
  COLUMN_LIMITS.map(({ key, field }) => [
    field,
    isFraction(key) ? z.number().min(0).max(1).optional() : countSchema.optional(),
  ]),
) as Record<LimitField, z.ZodOptional<z.ZodNumber>>;

/** Selects sequences of a run; absent fields do not filter. */
export const sequenceFilterSchema = z.object({
  input: countSchema.optional(),
  /** Numbers of the sample's files. */
  inputs: z.array(countSchema).max(LIMITS.inputs).optional(),
  predictions: z.array(predictionSchema).max(predictionSchema.options.length).optional(),
  ...limits,
  /** Why a sequence has no call; `ok` if it has one. */
  reasons: z.array(reasonSchema).max(reasonSchema.options.length).optional(),
  evidence: z.array(evidenceSchema).max(evidenceSchema.options.length).optional(),
  /** Whether the call can no longer change while chunks of the run are missing. */
  settled: z.boolean().optional(),
  terminalRepeat: z.literal(true).optional(),
  /** Only sequences with a hint to another genetic code. */
  otherCode: z.literal(true).optional(),
  /** Part of the name or header, case-insensitive. */
  search: wordSchema.optional(),
  /** Selects by how this run's calls agree with the other tool's table of this number; null for all tables. */
  other: z.object({ table: countSchema.nullable(), agreement: agreementSchema }).optional(),
  /** Only sequences on the user's shortlist. */
  shortlisted: z.literal(true).optional(),
});
export type SequenceFilter = z.infer<typeof sequenceFilterSchema>;

/**
 * The best hits of a run at work. All chunks of each are computed, so nothing said of it changes, and the first is only ever
 * replaced by a better one: by evidence, then by score.
 */
export const BEST_SO_FAR = {
  filter: { predictions: ['virus'], settled: true },
  sort: { by: 'evidence', descending: true } as const,
} satisfies { filter: SequenceFilter; sort: object };
