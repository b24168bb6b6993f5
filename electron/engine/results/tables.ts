import type Database from 'better-sqlite3';
import { appError, AppFailure } from '../../contract/errors.ts';
import { predictionSchema, reasonSchema, RESULT_FILES } from '../../contract/results.ts';
import { readInputs, readPlan, readRun } from '../store/runRows.ts';
import { SEQUENCE_INDEX } from '../store/runSchema.ts';
import { syncFolder } from '../store/syncFolder.ts';
import { FailedParts } from './failedParts.ts';
import { cellText, inputLabels } from './inputLabels.ts';
import { ChunkCursor, scanRecords, type ScannedRecord } from './recordScan.ts';
import { SequenceTally, type SequenceSummary } from './sequenceTally.ts';
import { TableFile } from './tableFile.ts';
import {
  booleanText,
  chunkLines,
  nameText,
  sequenceLine,
  TABLE_HEADERS,
  unopenedChunkLine,
} from './tableRows.ts';
import type { ResultCounts, TablesWritten } from './types.ts';

type TableName =
  'originalFrames' | 'originalChunks' | 'sequences' | 'chunks' | 'failedFiles' | 'failedRecords';
type Tables = Record<TableName, TableFile>;

/** Derives the sequence results from the chunk rows and writes every table that run.db alone can give. The tables appear
 * together, each whole; results in run.db and tables come from the same pass. */
export function writeTables(db: Database.Database, folder: string): TablesWritten {
  const begun = performance.now();
  refuseUnfinished(db);
  const tables = openTables(folder);
  const all = Object.values(tables);
  try {
    const derived = db.transaction(() => {
      const counts = deriveSequences(db, tables);
      writeOriginalChunks(db, tables.originalChunks);
      const files = Object.fromEntries(all.map((table) => [table.name, table.finish()]));
      for (const table of all) table.publish();
      return { counts, files };
    });
    const { counts, files } = derived.immediate();
    syncFolder(folder);
    return { counts, files, seconds: (performance.now() - begun) / 1000 };
  } catch (error) {
    for (const table of all) table.discard();
    throw error;
  }
}

function openTables(folder: string): Tables {
  const open = (name: TableName) => new TableFile(folder, RESULT_FILES[name]);
  const tables: Tables = {
    originalFrames: open('originalFrames'),
    originalChunks: open('originalChunks'),
    sequences: open('sequences'),
    chunks: open('chunks'),
    failedFiles: open('failedFiles'),
    failedRecords: open('failedRecords'),
  };
  for (const [name, header] of Object.entries(TABLE_HEADERS))
    tables[name as keyof typeof TABLE_HEADERS].write(header);
  return tables;
}

/** One pass over records and chunks: rows of `sequence`, and all tables but the one sorted by id. */
function deriveSequences(db: Database.Database, tables: Tables): ResultCounts {
  const { chunkLength, model } = readPlan(db);
  const inputs = inputLabels(readInputs(db).map(({ path }) => path));
  const modelLabel = cellText(model.notice === null ? model.name : `${model.name} (${model.notice})`);
  const failedParts = new FailedParts(db);
  const counts = noCounts(failedParts.count);
  db.exec(`DELETE FROM sequence; DROP INDEX ${SEQUENCE_INDEX.name}`);
  const insert = db.prepare('INSERT INTO sequence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');

  const cursor = new ChunkCursor(db);
  for (const record of scanRecords(db)) {
    const { summary, failedIn } = writeChunks(record, cursor, chunkLength, tables);
    if (summary.nFrames !== record.nFrames || cursor.current?.row === record.row)
      throw framesAmiss(record, summary);
    const {
      prediction,
      reason,
      virusScore,
      nChunksScored,
      nChunksViral,
      nFramesScored,
      bestChunk,
      bestFrame,
    } = summary;
    const storedReason = reason === 'ok' ? null : reason;
    insert.run(record.row, prediction, storedReason, virusScore, nChunksScored, nChunksViral, nFramesScored, bestChunk, bestFrame); // prettier-ignore
    const labels = { input: inputs[record.input] ?? 'NA', model: modelLabel };
    tables.sequences.write(sequenceLine(record, summary, chunkLength, labels));
    if (prediction === 'failed') {
      const cells = failedParts.cells(failedIn);
      tables.failedRecords.write(
        `${nameText(record.name)}\t${labels.input}\t${record.row}\t${record.length}\t${reason}\t${cells}\n`,
      );
    }
    count(counts, record, summary);
  }
  if (cursor.current) throw new Error(`Chunk row of an unknown record ${cursor.current.row}`);
  for (const line of failedParts.lines()) tables.failedFiles.write(line);
  db.exec(SEQUENCE_INDEX.create);
  return counts;
}

/** Writes the chunks of one record, moving the cursor behind them, and sums them up. */
function writeChunks(
  record: ScannedRecord,
  cursor: ChunkCursor,
  chunkLength: number,
  tables: Tables,
): { summary: SequenceSummary; failedIn: Set<number> } {
  const tally = new SequenceTally();
  const failedIn = new Set<number>();
  for (let k = 0; k < record.nChunks; k++) {
    const chunk = cursor.current;
    if (chunk?.row === record.row && chunk.chunk === k) {
      const lines = chunkLines(record, chunkLength, chunk);
      tables.originalFrames.write(lines.frames);
      tables.chunks.write(lines.chunk);
      tally.add(chunk);
      if (chunk.reason !== null) failedIn.add(chunk.shard);
      cursor.advance();
    } else {
      tables.chunks.write(unopenedChunkLine(record, chunkLength, k));
    }
  }
  return { summary: tally.summary(record.fault), failedIn };
}

/** prediction_results_highestscore.csv: chunks by id in code-point order, which is how SQLite compares UTF-8 text. */
function writeOriginalChunks(db: Database.Database, table: TableFile): void {
  const sorted = db
    .prepare<[], [string, number]>(
      `SELECT record.name || '_chunk_' || (chunk.chunk + 1) AS id, chunk.is_virus
       FROM chunk CROSS JOIN record ON record.row = chunk.row
       WHERE chunk.is_virus IS NOT NULL ORDER BY id, chunk.row, chunk.chunk`,
    )
    .raw();
  for (const [id, isVirus] of sorted.iterate()) table.write(`${id}\t${booleanText(isVirus === 1)}\n`);
}

function refuseUnfinished(db: Database.Database): void {
  const open = db
    .prepare<[], number>(`SELECT count(*) FROM shard WHERE state IN ('pending', 'assigned')`)
    .pluck()
    .get();
  if (open === 0 && readRun(db).prepared !== null) return;
  throw new AppFailure(
    appError('internal', `Results were asked for with ${open} parts still to be computed.`),
  );
}

function framesAmiss(record: ScannedRecord, summary: SequenceSummary): AppFailure {
  const cause = `Row ${record.row} (${record.name}) has ${summary.nFrames} frames in its results, ${record.nFrames} in the input.`;
  return new AppFailure(appError('internal', cause));
}

function noCounts(failedShards: number): ResultCounts {
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
    failedShards,
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
