import { z } from 'zod';
import { countSchema } from './protocol/common.ts';
import { predictionSchema } from './results.ts';

/** What another tool's table takes for a virus. */
export const otherRuleSchema = z.enum([
  /** Every sequence in it. */
  'listed',
  /** What a column of calls says. */
  'call',
  /** CheckV's quality is determined. */
  'quality',
  /** The virus score is the largest of geNomad's three. */
  'largest',
  /** A score of at least 0.5. */
  'score',
  /** It lists plasmids. */
  'none',
]);
export type OtherRule = z.infer<typeof otherRuleSchema>;

/** What ours and theirs call a sequence. What its table does not name, another tool may never have seen: that is no disagreement. */
export const agreementSchema = z.enum([
  /** Virus by both. */
  'both',
  /** Virus here, and named but no virus there. */
  'only_ours',
  /** Virus there, and not here. */
  'only_theirs',
  'not_in_table',
]);
export type Agreement = z.infer<typeof agreementSchema>;

/** Another tool's table beside the calls of a run. */
export const otherTableSchema = z.object({
  /** The tool's name where it is known, else the file's. */
  title: z.string(),
  file: z.string(),
  rule: otherRuleSchema,
  /** Names of its columns that are shown beside ours. */
  columns: z.array(z.string()),
  /** Its lines, and those of them whose name is a sequence's of this run. */
  lines: countSchema,
  matched: countSchema,
  /** Some names that are not. */
  unmatched: z.array(z.string()),
  /** Sequences of the run by our call, and by what the other tool says of them. */
  calls: z.record(
    predictionSchema,
    z.object({ virus: countSchema, notVirus: countSchema, notInTable: countSchema }),
  ),
});
export type OtherTable = z.infer<typeof otherTableSchema>;

/** More are not shown beside each other. */
export const MOST_OTHER_TABLES = 6;
