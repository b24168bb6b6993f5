import { z } from 'zod';
import { LIMITS, pathSchema } from '../limits.ts';
import { countSchema } from '../protocol/common.ts';
import { procedure } from './procedure.ts';
import { runIdSchema } from './runs.ts';

/** Limits of a query, since folders and queries may come from strangers. */
export const QUERY_LIMITS = {
  seconds: 60,
  /** DuckDB's memory limit; what does not fit is written to disk. */
  memory: '1GB',
  disk: '4GB',
  /** How much the process may grow during a query: DuckDB does not count all its memory. */
  processBytes: 3_000_000_000,
  rows: 100_000,
  /** Characters of all cells of an answer together. */
  characters: 30_000_000,
} as const;

const queryCellSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type QueryCell = z.infer<typeof queryCellSchema>;

export const queryAnswerSchema = z.object({
  /** `type` is the type's name in DuckDB. */
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(queryCellSchema)),
  /** Whether there are more rows than were requested. */
  isCut: z.boolean(),
  milliseconds: z.number(),
});
export type QueryAnswer = z.infer<typeof queryAnswerSchema>;

/**
 * Example queries that show the tables and their columns; the window offers them, and `virnucpro query
 * --help` lists them.
 */
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

/**
 * Runs one SELECT in DuckDB's SQL on the tables sequences, chunks and samples of a run, and on the tables of
 * other tools.
 */
export const queryProcedure = procedure
  .input(querySchema.extend({ rows: z.int().positive().max(QUERY_LIMITS.rows).default(1000) }))
  .output(queryAnswerSchema);

/**
 * Runs the query again and writes the answer as a tab-separated table: to `path`, or in browser mode to a
 * file for download.
 */
export const saveQueryProcedure = procedure.input(querySchema.extend({ path: pathSchema.optional() })).output(
  z.object({
    path: z.string(),
    downloadPath: z.string().nullable(),
    rows: countSchema,
    bytes: countSchema,
    isCut: z.boolean(),
  }),
);
