import type Database from 'better-sqlite3';
import { modelMark } from '../../../../../contract/plan.ts';
import { predictionSchema, reasonSchema, RESULT_FILES } from '../../../../../contract/results.ts';
import { inLittleMemory, inOneState } from '../../database.ts';
import { readPlan, readRun } from '../../runRows.ts';
import { syncFolder } from '../../../../files/replaceFile.ts';
import { FailedParts } from './failedParts.ts';
import { ResultFile } from '../../../duckdb/resultFile.ts';
import type { ResultRow, RunLabels } from '../../../duckdb/resultRows.ts';
import { runLabels } from '../../../duckdb/resultSource.ts';
import { pValue } from '../../../../results/calibration.ts';
import { areMates, callPair } from '../../../../results/sequenceRemarks.ts';
import { type ScannedChunk, type ScannedRecord, recordSummaries } from '../derive/recordScan.ts';
import type { SequenceSummary } from '../../../../results/sequenceTally.ts';
import { TableFile } from '../../files/tableFile.ts';
import {
  booleanText,
  chunkLines,
  nameText,
  moreCells,
  sequenceLine,
  TABLE_HEADERS,
  unopenedChunkLine,
} from './tableRows.ts';
import type { ResultCounts, TablesPrepared } from '../../../../results/types.ts';
import { appError, AppFailure } from '../../../../../contract/errors.ts';

type TableName = 'originalFrames' | 'sequences' | 'chunks' | 'failedFiles' | 'failedRecords';
type Tables = Record<TableName, TableFile>;

export function tableMethods(db: Database.Database, folder: string) {
  let unpublished: (TableFile | ResultFile)[] = [];

  /**
   * Writes every table that needs only run.db, except the sorted one, from one state of the database; none
   * appears yet.
   */
  async function prepareTables(): Promise<TablesPrepared> {
    refuseUnfinished(db);
    const tables = openTables(folder);
    unpublished.push(...Object.values(tables));
    const results = new ResultFile(folder);
    unpublished.push(results);
    const labels = runLabels(db);
    const counts = noCounts();
    const written = await inOneState(db, () =>
      results.write(writeInOrder(db, tables, labels, counts), labels),
    );
    return { counts, files: { ...digestsOf(Object.values(tables)), [results.name]: written } };
  }

  function prepareSortedTable(): TablesPrepared<void> {
    refuseUnfinished(db);
    const table = new TableFile(folder, RESULT_FILES.originalChunks);
    unpublished.push(table);
    inLittleMemory(db, () => db.transaction(() => writeOriginalChunks(db, table)).deferred());
    return { counts: undefined, files: digestsOf([table]) };
  }

  /** Makes this thread's tables appear, each atomically. */
  function publishTables(): void {
    for (const table of unpublished) table.publish();
    syncFolder(folder);
    unpublished = [];
  }

  function discardTables(): void {
    for (const table of unpublished) table.discard();
    unpublished = [];
  }

  async function writeTables(): Promise<TablesPrepared> {
    try {
      const { counts, files } = await prepareTables();
      const sorted = prepareSortedTable();
      publishTables();
      return { counts, files: { ...files, ...sorted.files } };
    } catch (error) {
      discardTables();
      throw error;
    }
  }

  return { prepareTables, prepareSortedTable, publishTables, discardTables, writeTables };
}

/** Flushes the tables to disk, still under their temporary names. */
function digestsOf(tables: readonly TableFile[]): TablesPrepared['files'] {
  return Object.fromEntries(tables.map((table) => [table.name, table.finish()]));
}

function openTables(folder: string): Tables {
  const open = (name: TableName) => new TableFile(folder, RESULT_FILES[name]);
  return {
    originalFrames: open('originalFrames'),
    sequences: open('sequences'),
    chunks: open('chunks'),
    failedFiles: open('failedFiles'),
    failedRecords: open('failedRecords'),
  };
}

/** Writes the text tables but the one sorted by id, and counts, while it yields the rows of results.parquet. */
function* writeInOrder(
  db: Database.Database,
  tables: Tables,
  labels: RunLabels,
  counts: ResultCounts,
): Generator<ResultRow, void> {
  const { model } = readPlan(db);
  const { chunkLength, mates, model: modelLabel, trusted, isPaired } = labels;
  let matesOfInput: ReturnType<typeof recordSummaries> | null = null;
  let input = -1;
  const failedParts = new FailedParts(db);
  /** chunks.tsv names the model only if it must not be mistaken for a real one. */
  const isMarked = modelMark(model) !== null;
  const marked = (line: string, cell: string): string =>
    isMarked ? `${line.slice(0, -1)}\t${cell}\n` : line;
  counts.failedParts = failedParts.count;
  /**
   * State of the current record: its first chunk that has no line yet, and the parts in which its chunks
   * failed.
   */
  let next = 0;
  const failedIn = new Set<number>();

  for (const name of ['originalFrames', 'failedRecords'] as const) tables[name].write(TABLE_HEADERS[name]);
  const moreHeaders = `${isPaired ? '\tpair_score\tpair_prediction' : ''}${trusted ? '\tp_value' : ''}`;
  tables.sequences.write(`${TABLE_HEADERS.sequences.slice(0, -1)}${moreHeaders}\n`);
  tables.chunks.write(marked(TABLE_HEADERS.chunks, 'model'));
  const writeUnopened = (record: ScannedRecord, end: number): void => {
    for (; next < end; next++)
      tables.chunks.write(marked(unopenedChunkLine(record, chunkLength, next), modelLabel));
  };
  const writeChunk = (record: ScannedRecord, chunk: ScannedChunk): void => {
    writeUnopened(record, chunk.chunk);
    const lines = chunkLines(record, chunkLength, chunk);
    tables.originalFrames.write(lines.frames);
    tables.chunks.write(marked(lines.chunk, modelLabel));
    if (chunk.reason !== null) failedIn.add(chunk.part);
    next = chunk.chunk + 1;
  };
  for (const { record, summary } of recordSummaries(db, { visit: writeChunk })) {
    if (record.input !== input) {
      input = record.input;
      const rows = mates[input];
      matesOfInput = rows
        ? recordSummaries(db, { from: rows.firstRow, to: rows.firstRow + rows.records - 1 })
        : null;
    }
    const mate = matesOfInput?.next().value;
    const pair = mate && areMates(record, mate.record) ? callPair(summary, mate.summary) : null;
    writeUnopened(record, record.nChunks);
    const inputLabel = labels.inputs[record.input] ?? 'NA';
    const p = pValue(trusted, record.length, summary.virusScore);
    const line = sequenceLine(record, summary, chunkLength, { input: inputLabel, model: modelLabel });
    tables.sequences.write(`${line.slice(0, -1)}${moreCells(labels, pair, p)}\n`);
    if (summary.prediction === 'failed') {
      const cells = failedParts.cells(failedIn);
      tables.failedRecords.write(
        `${nameText(record.name)}\t${inputLabel}\t${record.row}\t${record.length}\t${summary.reason}\t${cells}\n`,
      );
    }
    count(counts, record, summary);
    next = 0;
    failedIn.clear();
    yield { record, summary, pValue: p, pair };
  }
  for (const line of failedParts.lines()) tables.failedFiles.write(line);
}

/**
 * Writes prediction_results_highestscore.csv: chunks by id in code-point order, which is how SQLite compares
 * UTF-8 text.
 */
function writeOriginalChunks(db: Database.Database, table: TableFile): void {
  table.write(TABLE_HEADERS.originalChunks);
  const sorted = db
    .prepare<[], [string, number]>(
      `SELECT record.name || '_chunk_' || (chunk.chunk + 1) AS id, chunk.is_virus
       FROM chunk CROSS JOIN record ON record.row = chunk.row
       WHERE chunk.is_virus IS NOT NULL ORDER BY id, chunk.row, chunk.chunk`,
    )
    .raw();
  for (const [id, isVirus] of sorted.iterate()) table.write(`${id}\t${booleanText(isVirus === 1)}\n`);
}

function noCounts(): ResultCounts {
  const zeros = <Name extends string>(names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  return {
    records: 0,
    chunks: 0,
    chunksScored: 0,
    chunksViral: 0,
    framesScored: 0,
    byPrediction: zeros(predictionSchema.options),
    byReason: zeros(reasonSchema.options),
    failedParts: 0,
  };
}

function count(counts: ResultCounts, record: ScannedRecord, summary: SequenceSummary): void {
  counts.records++;
  counts.chunks += record.nChunks;
  counts.chunksScored += summary.nChunksScored;
  counts.chunksViral += summary.nChunksViral;
  counts.framesScored += summary.nFramesScored;
  counts.byPrediction[summary.prediction]++;
  counts.byReason[summary.reason]++;
}

/** Refuses results for runs that have unsettled parts. */
function refuseUnfinished(db: Database.Database): void {
  const open = db
    .prepare<[], number>(`SELECT count(*) FROM part WHERE state IN ('pending', 'assigned')`)
    .pluck()
    .get();
  if (open === 0 && readRun(db).prepared !== null) return;
  throw new AppFailure(
    appError('internal', `Results were asked for with ${open} parts still to be computed.`),
  );
}
