import { z } from 'zod';
import { LIMITS, pathSchema } from '../limits.ts';
import { countSchema } from '../protocol/common.ts';
import { procedure } from './procedure.ts';
import { runIdSchema } from './runs.ts';

/** Bounds of a query: folders and queries may come from strangers. */
export const QUERY_LIMITS = {
  seconds: 60,
  /** Of DuckDB; what does not fit goes to the disk. */
  memory: '1GB',
  disk: '4GB',
  /** By which the process may grow meanwhile: DuckDB does not count all that it takes. */
  processBytes: 3_000_000_000,
  rows: 100_000,
  /** Of all cells of an answer together. */
  characters: 30_000_000,
} as const;

const queryCellSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type QueryCell = z.infer<typeof queryCellSchema>;

export const queryAnswerSchema = z.object({
  /** `type` is DuckDB's. */
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(queryCellSchema)),
  /** There are more rows than were asked for. */
  isCut: z.boolean(),
  milliseconds: z.number(),
});
export type QueryAnswer = z.infer<typeof queryAnswerSchema>;

/** Questions that show the tables and their columns; the window offers them, and `virnucpro query --help` lists them. */
export const QUERY_EXAMPLES = [
  {
    key: 'best',
    sql: "SELECT seq_name, length, virus_score, evidence\nFROM sequences\nWHERE prediction = 'virus'\nORDER BY virus_score DESC\nLIMIT 20",
  },
  {
    key: 'samples',
    sql: "SELECT sample, count(*) AS sequences, count(*) FILTER (prediction = 'virus') AS virus\nFROM sequences JOIN samples USING (input)\nGROUP BY sample\nORDER BY virus DESC",
  },
  {
    key: 'regions',
    sql: 'SELECT seq_name, count(*) AS viral_chunks, min("start") AS first, max("end") AS last\nFROM chunks\nWHERE is_virus\nGROUP BY seq_name\nORDER BY viral_chunks DESC\nLIMIT 20',
  },
  {
    key: 'lengths',
    sql: 'SELECT length // 1000 AS kilobases, prediction, count(*) AS sequences\nFROM sequences\nGROUP BY ALL\nORDER BY ALL',
  },
] as const;

const querySchema = z.object({ runId: runIdSchema, sql: z.string().trim().min(1).max(LIMITS.text) });

/** One SELECT in DuckDB's SQL on the tables sequences, chunks and samples of a run, and on those of other tools beside it. */
export const queryProcedure = procedure
  .input(querySchema.extend({ rows: z.int().positive().max(QUERY_LIMITS.rows).default(1000) }))
  .output(queryAnswerSchema);

/** Asks again and writes the answer as a tab-separated table: to `path`, or in browser mode to a file that is fetched. */
export const saveQueryProcedure = procedure.input(querySchema.extend({ path: pathSchema.optional() })).output(
  z.object({
    path: z.string(),
    downloadPath: z.string().nullable(),
    rows: countSchema,
    bytes: countSchema,
    isCut: z.boolean(),
  }),
);
