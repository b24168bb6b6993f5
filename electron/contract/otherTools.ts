import { z } from 'zod';
import { countSchema } from './protocol/common.ts';
import { predictionSchema } from './results.ts';

/** The rule by which another tool's table calls a virus. */
export const otherRuleSchema = z.enum([
  /** Every listed sequence is a virus. */
  'listed',
  /** A column holds the calls. */
  'call',
  /** Virus if CheckV determined a quality. */
  'quality',
  /** Virus if the virus score is the largest of geNomad's three. */
  'largest',
  /** Virus if the score is at least 0.5. */
  'score',
  /** None is: the table lists plasmids. */
  'none',
]);
export type OtherRule = z.infer<typeof otherRuleSchema>;

/**
 * How our calls and theirs agree on a sequence. A sequence that is missing from the table may never have been
 * seen by the other tool, so it is no disagreement.
 */
export const agreementSchema = z.enum([
  /** Both call it a virus. */
  'both',
  /** We call it a virus; the other tool lists it, but not as a virus. */
  'only_ours',
  /** The other tool calls it a virus, and we do not. */
  'only_theirs',
  'not_in_table',
]);
export type Agreement = z.infer<typeof agreementSchema>;

/** Another tool's table beside the calls of a run. */
export const otherTableSchema = z.object({
  /** The tool's name if known, else the file's name. */
  title: z.string(),
  file: z.string(),
  rule: otherRuleSchema,
  /** Names of its columns that are shown beside our columns. */
  columns: z.array(z.string()),
  /** Its lines, and how many of them name a sequence of this run. */
  lines: countSchema,
  matched: countSchema,
  /** Some names that match no sequence. */
  unmatched: z.array(z.string()),
  /** Counts of the run's sequences by our call and by the other tool's. */
  calls: z.record(
    predictionSchema,
    z.object({ virus: countSchema, notVirus: countSchema, notInTable: countSchema }),
  ),
});
export type OtherTable = z.infer<typeof otherTableSchema>;

/** The number of tables that can be shown beside each other. */
export const MOST_OTHER_TABLES = 6;
