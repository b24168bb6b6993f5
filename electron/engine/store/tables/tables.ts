import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { predictionSchema, reasonSchema, RESULT_FILES, type TextTable } from '../../../contract/results.ts';
import { inLittleMemory, inOneState } from '../sqlite/database.ts';
import { readLabels, readProblems, readRun } from '../sqlite/runRows.ts';
import { replaceFile, syncFolder } from '../../system/replaceFile.ts';
import { openNew } from '../../system/runFiles.ts';
import { FailedParts } from './failedParts.ts';
import { ResultFile, writeSequenceTables } from '../duckdb/resultFile.ts';
import type { SequenceResult } from '../../../contract/columns.ts';
import { chunkColumns, sequenceRow, type RunLabels } from '../../results/sequenceRow.ts';
import { cellText } from '../../results/cellText.ts';
import { isDamage, isStretch } from '../../results/damage.ts';
import { areMates, callPair } from '../../results/sequenceRemarks.ts';
import {
  type ScannedChunk,
  type ScannedRecord,
  NOT_OF_SECOND_LOOK,
  recordSummaries,
} from '../sqlite/results/derive/recordScan.ts';
import type { SequenceSummary } from '../../results/sequenceTally.ts';
import { booleanText, chunkLines, TABLE_HEADERS, unopenedChunkLine } from './tableRows.ts';
import type { ResultCounts, TablesPrepared } from '../../results/types.ts';
import { appFailure } from '../../../contract/errors.ts';

type TableName = 'originalFrames' | 'chunks' | 'failedFiles' | 'failedRecords';
type Tables = Partial<Record<TableName, TableFile>>;

export function tableMethods(db: Database.Database, folder: string) {
  let unpublished: (TableFile | ResultFile)[] = [];
  const reading = <Value>(work: () => Value): Value =>
    inLittleMemory(db, () => db.transaction(work).deferred());
  const hasTexts = (): boolean => readRun(db).description.options.request?.tables !== 'parquet';

  /** Each of these three writes its tables from one state of the database; none appears yet. */
  function prepareChunkTables(): TablesPrepared {
    refuseUnfinished(db);
    const tables = openTables(folder, hasTexts());
    unpublished.push(...Object.values(tables));
    return { counts: reading(() => writeInOrder(db, tables)), files: digestsOf(Object.values(tables)) };
  }

  async function prepareSequenceTables(): Promise<TablesPrepared<void>> {
    refuseUnfinished(db);
    const results = new ResultFile(folder, RESULT_FILES.results);
    const sequences = new ResultFile(folder, RESULT_FILES.sequences);
    unpublished.push(results, ...(hasTexts() ? [sequences] : []));
    const labels = readLabels(db);
    const files = await inOneState(db, () =>
      writeSequenceTables(results, hasTexts() ? sequences : null, resultRows(db, labels), labels),
    );
    return { counts: undefined, files };
  }

  function prepareSortedTable(): TablesPrepared<void> {
    refuseUnfinished(db);
    if (!hasTexts()) return { counts: undefined, files: {} };
    const table = new TableFile(folder, RESULT_FILES.originalChunks);
    unpublished.push(table);
    reading(() => writeOriginalChunks(db, table));
    return { counts: undefined, files: digestsOf([table]) };
  }

  /** Makes this thread's tables appear, each atomically. */
  function publishTables(): void {
    for (const table of unpublished) table.publish();
    syncFolder(folder);
    unpublished = [];
  }

  function discardTables(): void {
    for (const table of unpublished.splice(0)) table.discard();
  }

  async function writeTables(): Promise<TablesPrepared> {
    try {
      const chunks = prepareChunkTables();
      const sequences = await prepareSequenceTables();
      const sorted = prepareSortedTable();
      publishTables();
      return { ...chunks, files: { ...chunks.files, ...sequences.files, ...sorted.files } };
    } catch (error) {
      discardTables();
      throw error;
    }
  }

  /** Writes a text table of chunks of a finished run under another path, with the same bytes as the run. */
  function writeTextTable(name: Exclude<TextTable, 'sequences'>, path: string): void {
    refuseUnfinished(db);
    const table = new TableFile(dirname(path), basename(path));
    try {
      reading(() =>
        name === 'originalChunks' ? writeOriginalChunks(db, table) : void writeInOrder(db, { [name]: table }),
      );
      table.finish();
      table.publish();
    } finally {
      table.discard();
    }
  }

  return {
    writeTextTable,
    prepareChunkTables,
    prepareSequenceTables,
    prepareSortedTable,
    publishTables,
    discardTables,
    writeTables,
  };
}

/** Flushes the tables to disk, still under their temporary names. */
function digestsOf(tables: readonly TableFile[]): TablesPrepared['files'] {
  return Object.fromEntries(tables.map((table) => [table.name, table.finish()]));
}

function openTables(folder: string, hasTexts: boolean): Tables {
  const open = (name: TableName) => new TableFile(folder, RESULT_FILES[name]);
  return {
    ...(hasTexts && { originalFrames: open('originalFrames'), chunks: open('chunks') }),
    failedFiles: open('failedFiles'),
    failedRecords: open('failedRecords'),
  };
}

/**
 * Every sequence in order with all that tables say of it. The results of a read's mate are looked up in the file with the other reads.
 */
function* resultRows(db: Database.Database, labels: RunLabels): Generator<SequenceResult> {
  let matesOfInput: ReturnType<typeof recordSummaries> | null = null;
  let input = -1;
  for (const { record, summary } of recordSummaries(db)) {
    if (record.input !== input) {
      input = record.input;
      const rows = labels.mates[input];
      matesOfInput = rows
        ? recordSummaries(db, { from: rows.firstRow, to: rows.firstRow + rows.records - 1 })
        : null;
    }
    const mate = matesOfInput?.next().value;
    const pair = mate && areMates(record, mate.record) ? callPair(summary, mate.summary) : null;
    yield sequenceRow({ record, summary, pair }, labels);
  }
}

/** Writes the tables of chunks but the one sorted by id, and the lists of failures: handing DuckDB the chunks would take longer than this. */
function writeInOrder(db: Database.Database, tables: Tables): ResultCounts {
  const labels = readLabels(db);
  const failedParts = new FailedParts(db);
  const damage = readProblems(db).filter(isDamage);
  const [stretches, damagedRecords] = [damage.filter(isStretch), damage.filter((one) => !isStretch(one))];
  const faults = damagedRecords.flatMap(({ examples }) => examples);
  const faultOfRow = new Map(faults.map(({ row, detail }) => [row, detail]));
  const counts = noCounts(failedParts.count);
  /**
   * State of the current record: its first chunk that has no line yet, and the parts in which its chunks
   * failed.
   */
  let next = 0;
  const failedIn = new Set<number>();

  for (const name of ['originalFrames', 'failedRecords'] as const) tables[name]?.write(TABLE_HEADERS[name]);
  tables.chunks?.write(`${Object.keys(chunkColumns(labels)).join('\t')}\n`);
  const writeUnopened = (record: ScannedRecord, end: number): void => {
    for (; next < end; next++) tables.chunks?.write(unopenedChunkLine(record, labels, next));
  };
  const writeChunk = (record: ScannedRecord, chunk: ScannedChunk): void => {
    if (chunk.reason !== null) failedIn.add(chunk.part);
    if (!tables.originalFrames && !tables.chunks) return;
    writeUnopened(record, chunk.chunk);
    const lines = chunkLines(record, labels, chunk);
    tables.originalFrames?.write(lines.frames);
    tables.chunks?.write(lines.chunk);
    next = chunk.chunk + 1;
  };
  for (const { record, summary } of recordSummaries(db, { visit: writeChunk })) {
    writeUnopened(record, record.nChunks);
    if (summary.prediction === 'failed' || isDamage({ code: summary.reason })) {
      const cells =
        summary.prediction === 'failed'
          ? failedParts.cells(failedIn)
          : `NA\t${cellText(faultOfRow.get(record.row) ?? 'NA')}`;
      tables.failedRecords?.write(
        `${record.name}\t${labels.inputs[record.input] ?? 'NA'}\t${record.row}\t${record.length}\t${summary.reason}\t${cells}\n`,
      );
    }
    count(counts, record, summary);
    next = 0;
    failedIn.clear();
  }
  for (const { input, code, examples } of stretches)
    for (const { name, detail } of examples)
      tables.failedRecords?.write(
        `NA\t${labels.inputs[input] ?? 'NA'}\tNA\tNA\t${code}\tNA\t${name}: ${detail}\n`,
      );
  for (const line of failedParts.lines()) tables.failedFiles?.write(line);
  return counts;
}

/**
 * Writes prediction_results_highestscore.csv: chunks by id in code-point order, which is how SQLite compares
 * UTF-8 text. The original tool has no second look.
 */
function writeOriginalChunks(db: Database.Database, table: TableFile): void {
  table.write(TABLE_HEADERS.originalChunks);
  const sorted = db
    .prepare<[], [string, number]>(
      `SELECT record.name || '_chunk_' || (chunk.chunk + 1) AS id, chunk.is_virus
       FROM chunk CROSS JOIN record ON record.row = chunk.row
       WHERE chunk.is_virus IS NOT NULL AND ${NOT_OF_SECOND_LOOK} ORDER BY id, chunk.row, chunk.chunk`,
    )
    .raw();
  for (const [id, isVirus] of sorted.iterate()) table.write(`${id}\t${booleanText(isVirus === 1)}\n`);
}

function noCounts(failedParts: number): ResultCounts {
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
    failedParts,
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
  throw appFailure('internal', `Results were asked for with ${open} parts still to be computed.`);
}

/**
 * Text is encoded in small pieces, while they are still in the processor's cache, and written in large
 * blocks.
 */
const ENCODE_CHARACTERS = 1 << 12;
const BLOCK_BYTES = 1 << 20;
/** A character of a JavaScript string takes at most three bytes in UTF-8. */
const BYTES_PER_CHARACTER = 3;

/** A text file that appears complete or not at all: written under a temporary name, flushed, then renamed. */
class TableFile {
  readonly name: string;
  readonly #path: string;
  readonly #temporary: string;
  readonly #hash = createHash('sha256');
  #descriptor: number | null;
  #pending = '';
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #filled = 0;
  #bytes = 0;

  constructor(folder: string, name: string) {
    this.name = name;
    this.#path = join(folder, name);
    this.#temporary = `${this.#path}.tmp`;
    this.#descriptor = openNew(this.#temporary);
  }

  write(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= ENCODE_CHARACTERS) this.#encode();
  }

  /** Flushes everything to disk, still under the temporary name. */
  finish(): { bytes: number; sha256: string } {
    this.#encode();
    this.#flush();
    if (this.#descriptor !== null) {
      fsyncSync(this.#descriptor);
      this.#close();
    }
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  publish(): void {
    replaceFile(this.#temporary, this.#path);
  }

  discard(): void {
    this.#close();
    rmSync(this.#temporary, { force: true });
  }

  #encode(): void {
    const text = this.#pending;
    this.#pending = '';
    const most = BYTES_PER_CHARACTER * text.length;
    if (this.#filled + most > BLOCK_BYTES) this.#flush();
    if (most > BLOCK_BYTES) this.#toDisk(Buffer.from(text, 'utf8'));
    else this.#filled += this.#block.write(text, this.#filled, 'utf8');
  }

  #flush(): void {
    this.#toDisk(this.#block.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #toDisk(bytes: Buffer): void {
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    if (this.#descriptor === null) throw new Error(`${this.name} is closed`);
    for (let done = 0; done < bytes.length;) done += writeSync(this.#descriptor, bytes, done);
  }

  #close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
