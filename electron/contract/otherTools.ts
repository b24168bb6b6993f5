import { z } from 'zod';
import { countSchema } from './protocol/common.ts';
import { predictionSchema } from './results.ts';

/** The rule by which another tool's table calls a virus. */
export const otherRuleSchema = z.enum([
  /** Every listed sequence is a virus. */
  'listed',
  /** A column holds the calls. */
  'call',
  /** Virus if the virus score is the largest of geNomad's three. */
  'largest',
  /** A rule of a column, which the program knows or the user has named. */
  'named',
  /** The table has no calls that are understood, so none is made until the user names a rule. */
  'unknown',
]);
export type OtherRule = z.infer<typeof otherRuleSchema>;

/** A rule for a table. */
export const callRuleSchema = z.object({
  /** Null if every sequence in the table is a virus. */
  column: z.string().max(1000).nullable(),
  /** A limit such as `>=0.9`, or the words that mean virus, joined by `|`. */
  virus: z.string().max(1000),
});
export type CallRule = z.infer<typeof callRuleSchema>;

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
  /** The table names it, and makes no call that is understood. */
  'no_call',
  'not_in_table',
]);
export type Agreement = z.infer<typeof agreementSchema>;

/** Another tool's table beside the calls of a run. */
export const otherTableSchema = z.object({
  /** The tool's name if known, else the file's name. */
  title: z.string(),
  file: z.string(),
  rule: otherRuleSchema,
  /** Of `listed` and `named`. */
  named: callRuleSchema.nullable(),
  /** Names of its columns that are shown beside our columns. */
  columns: z.array(z.string()),
  /** Its lines, and how many of them name a sequence of this run. */
  lines: countSchema,
  matched: countSchema,
  /** Some names that match no sequence. */
  unmatched: z.array(z.string()),
  /** Its lines that make no call, and some words in them that are not understood. */
  notUnderstood: z.object({ lines: countSchema, words: z.array(z.string()) }),
  /** Counts of the run's sequences by our call and by the other tool's. */
  calls: z.record(
    predictionSchema,
    z.object({ virus: countSchema, notVirus: countSchema, noCall: countSchema, notInTable: countSchema }),
  ),
});
export type OtherTable = z.infer<typeof otherTableSchema>;

/** What a table of another tool says of a sequence, in short; `isVirus` is null if it makes no call. */
export const otherSaysSchema = z.object({ isVirus: z.boolean().nullable(), text: z.string() });
export type OtherSays = z.infer<typeof otherSaysSchema>;

/** The number of tables that can be shown beside each other. */
export const MOST_OTHER_TABLES = 6;
