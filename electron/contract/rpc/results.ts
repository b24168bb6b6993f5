import { sequenceResultSchema, sequenceSortSchema } from '../columns.ts';
import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { exportFormatSchema, exportLanguageSchema, reportListSchema } from '../exports.ts';
import { sequenceFilterSchema } from '../filter.ts';
import { LIMITS, pathSchema, wordSchema } from '../limits.ts';
import { callRuleSchema, otherSaysSchema, otherTableSchema } from '../otherTools.ts';
import { countSchema } from '../protocol/common.ts';
import { chunkResultSchema, predictionCountsSchema, predictionSchema } from '../results.ts';
import { sampleDetailsSchema } from '../samples.ts';
import { procedure } from './procedure.ts';
import { runIdSchema } from './runs.ts';

/** Limits of a query, since folders and queries may come from strangers. */
export const QUERY_LIMITS = {
  seconds: 60,
  /** DuckDB's memory limit; what does not fit is written to disk. */
  memory: '1GB',
  disk: '4GB',
  /** The most memory of a query's process: DuckDB does not count all that it takes. */
  processBytes: 3_000_000_000,
  rows: 100_000,
  /** Characters of all cells of an answer together. */
  characters: 30_000_000,
} as const;

const queryCellSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type QueryCell = z.infer<typeof queryCellSchema>;

const queryAnswerSchema = z.object({
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
const queryProcedure = procedure
  .input(querySchema.extend({ rows: z.int().positive().max(QUERY_LIMITS.rows).default(1000) }))
  .output(queryAnswerSchema);

/**
 * Runs the query again and writes the answer as a tab-separated table: to `path`, or in browser mode to a
 * file for download.
 */
const saveQueryProcedure = procedure.input(querySchema.extend({ path: pathSchema.optional() })).output(
  z.object({
    path: z.string(),
    downloadPath: z.string().nullable(),
    rows: countSchema,
    bytes: countSchema,
    isCut: z.boolean(),
  }),
);

export type { SequenceFilter } from '../filter.ts';

/** A sequence as a row of the table. */
const listedSequenceSchema = sequenceResultSchema.extend({
  /**
   * Numbers along the sequence, one for each chunk or, in a long sequence, for several: the virus score in
   * percent, at least 1, negative if the chunk is called other. For several chunks it is the one furthest
   * from 50; 0 if nothing is scored. RIBBON_LOOKED_AGAIN further from 0 if a second look judged.
   */
  ribbon: z.array(z.int()),
  /** What the table of each other tool says about it. */
  others: z.array(otherSaysSchema.nullable()).optional(),
});
export type ListedSequence = z.infer<typeof listedSequenceSchema>;

/** What a table of another tool says of a sequence; `isVirus` is null where it makes no call. */
const saidByToolSchema = z.object({
  title: z.string(),
  isNamed: z.boolean(),
  isVirus: z.boolean().nullable(),
  columns: z.array(z.object({ name: z.string(), value: z.string() })),
});
export type SaidByTool = z.infer<typeof saidByToolSchema>;

/** Sequences that did not fail, of lengths from `from` to below `to`, or of any from there on if it is null. */
const lengthBinSchema = z.object({
  from: countSchema,
  to: countSchema.nullable(),
  virus: countSchema,
  others: countSchema,
  not_scored: countSchema,
});
export type LengthBin = z.infer<typeof lengthBinSchema>;

const selection = { runId: runIdSchema, filter: sequenceFilterSchema.default({}) };
const rowsOf = {
  rows: z.array(countSchema).max(LIMITS.rows).optional(),
  sort: sequenceSortSchema.default({ by: 'row', descending: false }),
};
/** Names of columns of exported tables; `other 0` has all of the first table of another tool. */
const exportColumnsSchema = z.array(wordSchema).max(100);

const resultCountsSchema = z.object({
  total: countSchema,
  byPrediction: predictionCountsSchema,
  /** Calls that may still change while the run continues. */
  unsettled: countSchema,
});
export type ResultCounts = z.infer<typeof resultCountsSchema>;

const exportEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), done: countSchema, total: countSchema }),
  z.object({
    type: z.literal('written'),
    path: z.string(),
    downloadPath: z.string().nullable(),
    sequences: countSchema,
    bytes: countSchema,
  }),
]);
export type ExportEvent = z.infer<typeof exportEventSchema>;

const foundSchema = z.object({
  sequences: countSchema,
  byPrediction: predictionCountsSchema,
  bases: countSchema,
});
export type Found = z.infer<typeof foundSchema>;
const sampleSummarySchema = foundSchema.extend({
  ...sampleDetailsSchema.shape,
  sample: z.string(),
  /** Numbers of the sample's files. */
  inputs: z.array(countSchema),
});
export type SampleSummary = z.infer<typeof sampleSummarySchema>;
/** What a run has found, from one count of its sequences. */
const samplesFoundSchema = z.object({
  /** The samples of all files, in the order of the files. */
  names: z.array(z.string()),
  items: z.array(sampleSummarySchema),
  all: foundSchema,
  /** In all other samples than the negative controls. */
  outsideControls: foundSchema,
  /** In the negative controls; null if there are none. */
  inControls: foundSchema.extend({ samples: countSchema }).nullable(),
  /** Sequences called virus with strong evidence. */
  strong: countSchema,
});
export type SamplesFound = z.infer<typeof samplesFoundSchema>;

const comparedSchema = z.object({
  row: countSchema,
  prediction: predictionSchema,
  virusScore: z.number().nullable(),
  /** Like the ribbon of a row of the table. */
  ribbon: z.array(z.int()),
});

const scoresComparedSchema = z.object({
  compared: countSchema,
  correlation: z.number().nullable(),
  meanAbsoluteDifference: z.number(),
  largestDifference: z.number(),
});
export type ScoresCompared = z.infer<typeof scoresComparedSchema>;

const comparedSequenceSchema = z.object({
  seqName: z.string(),
  length: countSchema,
  first: comparedSchema,
  second: comparedSchema,
});
export type ComparedSequence = z.infer<typeof comparedSequenceSchema>;

/** The calls virus and other in two runs, of the sequences that have one in both. */
const callAgreementSchema = z.object({
  /** As the first run names it; null for all samples. */
  sample: z.string().nullable(),
  /** A file of the first run; null for all files. */
  file: z.string().nullable(),
  called: countSchema,
  sameCall: countSchema,
  /**
   * Cohen's kappa, (p - e) / (1 - e): p is the share of the same call, and e what the frequencies of the
   * calls in both runs give by chance (Cohen 1960, doi.org/10.1177/001316446002000104). Null where e is 1,
   * and without any call.
   */
  kappa: z.number().nullable(),
});
export type CallAgreement = z.infer<typeof callAgreementSchema>;

/** Two runs of the same sequences, such as with another model or precision. */
const runComparisonSchema = z.object({
  /**
   * Sequences of both runs: the same of inputs of the same content; in other inputs that are counterparts, those
   * of the same name and length, the n-th of several equal ones with the n-th.
   */
  inBoth: countSchema,
  onlyInFirst: countSchema,
  onlyInSecond: countSchema,
  sameCall: countSchema,
  /** Sequences in both whose name and length are not unique, in inputs that are not the same. */
  matchedByOrder: countSchema,
  /** Inputs that have the same name in both runs, and another content. */
  changedInputs: z.array(z.string()),
  /** Inputs without a counterpart, if both runs have such: compared by the names of sequences alone. */
  otherInputs: z.object({ first: z.array(z.string()), second: z.array(z.string()) }),
  /** Counts by the call in the first run, then in the second. */
  calls: z.record(predictionSchema, predictionCountsSchema),
  /** Of all, then of each sample of several files, and of each file. */
  agreement: z.array(callAgreementSchema),
  /** Agreement of the sequences that both runs scored; null if there are none. */
  scores: scoresComparedSchema.nullable(),
  /** The number of sequences in both that are on the shortlist of either run. */
  shortlisted: countSchema,
});
export type RunComparison = z.infer<typeof runComparisonSchema>;

/** Sequences of both runs whose call changed, or that are on the shortlist of either run. */
const comparedListSchema = z.enum(['changed', 'shortlisted']);
export type ComparedList = z.infer<typeof comparedListSchema>;

const chunkCallSchema = z.enum(['virus', 'others']);
export type ChunkCall = z.infer<typeof chunkCallSchema>;

/** The largest scores among the chunk's frames decide. The original tool's file of chunks has only calls. */
const calledChunkSchema = z.object({
  call: chunkCallSchema,
  score1: z.number().nullable(),
  score2: z.number().nullable(),
});

const differingChunkSchema = z.object({
  row: countSchema,
  seqName: z.string(),
  /** Numbered from 1, like both ends. */
  chunk: countSchema,
  start: countSchema,
  end: countSchema,
  run: calledChunkSchema,
  file: calledChunkSchema,
});
export type DifferingChunk = z.infer<typeof differingChunkSchema>;

/**
 * A run compared chunk by chunk with prediction_results.txt or prediction_results_highestscore.csv of the
 * original VirNucPro.
 */
const originalComparisonSchema = z.object({
  file: z.string(),
  /** This run's chunk length. */
  chunkLength: countSchema,
  inBoth: countSchema,
  sameCall: countSchema,
  onlyInRun: countSchema,
  onlyInFile: countSchema,
  /** Counts of the chunks in both, by the call of this run, then of the file. */
  calls: z.record(chunkCallSchema, z.record(chunkCallSchema, countSchema)),
  /**
   * Chunks of the file that are not compared, because several sequences of the run have their name or the
   * file lists them twice.
   */
  ambiguous: countSchema,
  /** The highest virus score of each chunk in both; null for the file of chunks, which has none. */
  scores: scoresComparedSchema.nullable(),
  /** The first chunks whose call differs, in the order of the run. */
  differing: z.array(differingChunkSchema),
});
export type OriginalComparison = z.infer<typeof originalComparisonSchema>;

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
    .output(z.object({ total: countSchema, items: z.array(listedSequenceSchema) })),
  /** Tables of other tools that were added to the results of this run; they are stored with it. */
  otherTables: procedure.input(z.object({ runId: runIdSchema })).output(z.array(otherTableSchema)),
  /** Refuses a result file of the original VirNucPro, which belongs to `compareOriginal`. */
  addOtherTable: procedure
    .input(z.object({ runId: runIdSchema, path: pathSchema }))
    .output(z.object({ isOriginal: z.boolean() })),
  /** Makes the calls of a table by a rule that the user names. */
  callOtherTable: procedure.input(z.object({ runId: runIdSchema, table: countSchema, rule: callRuleSchema })),
  removeOtherTable: procedure.input(z.object({ runId: runIdSchema, table: countSchema })),
  counts: procedure.input(z.object(selection)).output(resultCountsSchema),
  /** Every screen, command and export that says how many sequences are called virus has it from here. */
  samples: procedure.input(z.object({ runId: runIdSchema })).output(samplesFoundSchema),
  /**
   * Sets the sample of each file, in the order of the files; an empty list restores the samples that the file
   * names suggest. Without `details`, groups, notes and controls stay as they are.
   */
  setSamples: procedure.input(
    z.object({
      runId: runIdSchema,
      names: z.array(wordSchema.trim().min(1)).max(LIMITS.inputs),
      details: z.array(sampleDetailsSchema).max(LIMITS.inputs).optional(),
    }),
  ),
  /** Scored sequences of each call per virus_score bin of width 1/bins. */
  histogram: procedure
    .input(z.object({ ...selection, bins: z.int().min(5).max(200).default(50) }))
    .output(z.object({ virus: z.array(countSchema), others: z.array(countSchema) })),
  lengths: procedure.input(z.object(selection)).output(z.array(lengthBinSchema)),
  /** The chunks of one sequence, in order, and what other tools report of it. */
  chunks: procedure.input(z.object({ runId: runIdSchema, row: countSchema })).output(
    z.object({
      sequence: sequenceResultSchema,
      chunks: z.array(chunkResultSchema),
      others: z.array(saidByToolSchema),
    }),
  ),
  /**
   * One sequence, and the protein of the deciding frame, as FASTA. `record` is null if it is too long for the
   * clipboard, `protein` is null without a scored chunk. Cancelling the call ends the search in the inputs.
   */
  letters: procedure
    .input(z.object({ runId: runIdSchema, row: countSchema }))
    .output(z.object({ record: z.string().nullable(), protein: z.string().nullable() })),
  /** The rows on the user's shortlist, which is stored with the run. */
  shortlisted: procedure.input(z.object({ runId: runIdSchema })).output(z.array(countSchema)),
  /** Puts a sequence on the shortlist or removes it. */
  shortlist: procedure.input(z.object({ runId: runIdSchema, row: countSchema, shortlisted: z.boolean() })),
  compare: procedure
    .input(z.object({ runId: runIdSchema, otherRunId: runIdSchema }))
    .output(runComparisonSchema),
  /** Lists sequences as the last call of `compare` for these runs found them, in the order of the first run. */
  comparedPage: procedure
    .input(
      z.object({
        runId: runIdSchema,
        otherRunId: runIdSchema,
        list: comparedListSchema,
        offset: countSchema.default(0),
        limit: z.int().positive().max(1000).default(200),
      }),
    )
    .output(z.object({ total: countSchema, items: z.array(comparedSequenceSchema) })),
  /** Compares with a result file of the original VirNucPro. */
  compareOriginal: procedure
    .input(z.object({ runId: runIdSchema, path: pathSchema }))
    .output(originalComparisonSchema),
  query: queryProcedure,
  saveQuery: saveQueryProcedure,
  exportFormats: procedure.output(z.array(exportFormatSchema)),
  /**
   * Writes the sequences that pass the filter (or the given rows), in the order of `sort`, to a file that is
   * complete or absent.
   * Cancelling the stream cancels the export.
   */
  export: procedure
    .input(
      z.object({
        ...selection,
        ...rowsOf,
        /** Those of a table; absent for all. */
        columns: exportColumnsSchema.optional(),
        /** The id of a format. */
        format: wordSchema,
        /** Language of spreadsheet headings and report texts, and of the separators of CSV. */
        language: exportLanguageSchema.default('en'),
        /** Sections of a report; absent for all. */
        /** If absent, the candidates, or all that are called virus if there are none. */
        reportList: reportListSchema.optional(),
        /** Writes a report as PDF, which only the desktop app can do. */
        isPdf: z.boolean().default(false),
        /** Where to write; omitted in browser mode, where the file is fetched from `downloadPath`. */
        path: pathSchema.optional(),
      }),
    )
    .output(eventIterator(exportEventSchema)),
};
