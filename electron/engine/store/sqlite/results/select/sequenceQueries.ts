import { closeSync, fsyncSync, writeSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { inLittleMemory } from '../../database.ts';
import type { Prediction, SequenceResult } from '../../../../../contract/results.ts';
import type { SequenceSort } from '../../../../../contract/rpc/results.ts';
import { openNew } from '../../../../files/runFiles.ts';
import type { InputResultSummary, LengthScores, LengthShare } from '../../../../results/types.ts';
import { readPlan } from '../../runRows.ts';
import { sequenceReader } from '../queries.ts';
import { nameRankReader, rankHeaders, type NameRankReader } from './nameRank.ts';
import type { ProvisionalChanges } from '../derive/provisionalSequences.ts';
import {
  columnReader,
  newColumns,
  PREDICTIONS,
  withRangesReadAnew,
  type ColumnReader,
  type ResultColumns,
} from '../resultColumns.ts';
import { selectSequences, type SequenceSelection } from './sequenceFilter.ts';
import { lateColumns } from './lateColumns.ts';
import { rankFiles, sortSelected } from './sequenceOrder.ts';

/** Selections in their order that are kept, since one is paged through: 4 bytes for each sequence. */
const KEPT_ORDERS = 3;

/** Each time the columns are put together anew. */
const PARTS_PER_READ = 16;

const ROWS_PER_WRITE = 16_384;

export interface FoundSequences {
  /** Sequences that pass the filter, on all pages together. */
  total: number;
  items: SequenceResult[];
}

export interface PredictionCounts {
  total: number;
  byPrediction: Record<Prediction, number>;
}

/**
 * Answers what a window asks of the derived results. All but names and headers is read into memory once, and filtered, sorted and
 * counted there: with a million sequences a hundred times faster than in SQLite, whichever column is asked for.
 */
export function sequenceQueryMethods(db: Database.Database, changes: ProvisionalChanges) {
  const { results, load, rankNames } = resultLoader(db, changes);
  const sequencesOf = sequenceReader(db);
  const countBy = (
    selection: SequenceSelection,
    add: (columns: ResultColumns, index: number, prediction: Prediction) => void,
  ): void => {
    const { columns, select } = results();
    for (const index of select(selection)) add(columns, index, PREDICTIONS[columns.prediction[index]!]!);
  };
  const rowsOf = (selection: SequenceSelection, sort: SequenceSort): Uint32Array => {
    const { columns, order } = results();
    return order(selection, sort).map((index) => columns.row[index]!);
  };
  const firstPages = new Map(
    [true, false].map((descending) => [
      descending,
      db
        .prepare<[number], number>(
          `SELECT row FROM sequence ORDER BY virus_score ${descending ? 'DESC' : 'ASC'} NULLS LAST, row LIMIT ?`,
        )
        .pluck(),
    ]),
  );
  const total = db.prepare<[], number>('SELECT count(*) FROM sequence').pluck();
  const viralRows = db
    .prepare<[], number>(`SELECT row FROM sequence WHERE prediction = 'virus' ORDER BY row`)
    .pluck();
  const viralSequences = db
    .prepare<[], number>(`SELECT count(*) FROM sequence WHERE prediction = 'virus'`)
    .pluck();
  return {
    /** Reads results into memory for about so long; answers whether all are there. The questions below do it themselves where it
     * has not been done, but hold up all others meanwhile. */
    loadResults: db.transaction(load),
    /** Makes ready for an order by name, for about so long; answers whether it is. The question itself does so where it is not. */
    prepareNames: db.transaction((milliseconds: number): boolean => rankNames(milliseconds) !== null),
    /** What a window shows first, while the rest is read: the best or worst scores of all. Null for anything else. */
    firstPage: db.transaction(
      (
        { filter, rows }: SequenceSelection,
        sort: SequenceSort,
        offset: number,
        limit: number,
      ): FoundSequences | null => {
        const isOfAll = rows === undefined && Object.values(filter).every((value) => value === undefined);
        if (!isOfAll || sort.by !== 'virusScore' || offset > 0) return null;
        const page = firstPages.get(sort.descending)?.all(limit) ?? [];
        return { total: total.get() ?? 0, items: sequencesOf(Uint32Array.from(page)) };
      },
    ),
    findSequences: db.transaction(
      (selection: SequenceSelection, sort: SequenceSort, offset: number, limit: number): FoundSequences => {
        const { columns, order } = results();
        const ordered = order(selection, sort);
        const page = ordered.slice(offset, offset + limit).map((index) => columns.row[index]!);
        return { total: ordered.length, items: sequencesOf(page) };
      },
    ),
    countPredictions: db.transaction((selection: SequenceSelection): PredictionCounts => {
      const byPrediction = { virus: 0, others: 0, not_scored: 0, failed: 0 };
      let total = 0;
      countBy(selection, (_, __, prediction) => {
        byPrediction[prediction] += 1;
        total += 1;
      });
      return { total, byPrediction };
    }),
    viralSequences: (): number => viralSequences.get() ?? 0,
    inputSummaries: db.transaction((): InputResultSummary[] => {
      const summaries = new Map<number, InputResultSummary>();
      countBy({ filter: {} }, ({ input, length }, index, prediction) => {
        const summary = summaries.get(input[index]!) ?? {
          input: input[index]!,
          sequences: 0,
          bases: 0,
          viralBases: 0,
          byPrediction: { virus: 0, others: 0, not_scored: 0, failed: 0 },
        };
        summaries.set(input[index]!, summary);
        summary.byPrediction[prediction] += 1;
        summary.sequences += 1;
        summary.bases += length[index]!;
        if (prediction === 'virus') summary.viralBases += length[index]!;
      });
      return [...summaries.values()].sort((a, b) => a.input - b.input);
    }),
    /** Scored sequences per bin of virus_score; bin i holds i/bins to below (i+1)/bins, the last one 1 as well. */
    scoreBins: db.transaction((selection: SequenceSelection, bins: number): number[] => {
      const counts = new Array<number>(bins).fill(0);
      countBy(selection, ({ virusScore }, index) => {
        const score = virusScore[index]!;
        if (!Number.isNaN(score)) counts[scoreBin(score, bins)]! += 1;
      });
      return counts;
    }),
    /** The numbers of the selected rows in the order asked for. */
    selectedRows: db.transaction(rowsOf),
    /** Calls by length; `edges` ascend, the first is 0, and the last bin is open. */
    lengthShares: db.transaction((selection: SequenceSelection, edges: readonly number[]): LengthShare[] => {
      const shares = edges.map((from, i) => ({ from, to: edges[i + 1] ?? null, virus: 0, others: 0 }));
      countBy(selection, ({ length }, index, prediction) => {
        if (prediction === 'virus' || prediction === 'others')
          shares[lengthBin(length[index]!, edges)]![prediction] += 1;
      });
      return shares;
    }),
    /** Calls by length and score; a score of 1 counts with the last bin. */
    lengthScores: db.transaction(
      (selection: SequenceSelection, edges: readonly number[], bins: number): LengthScores => {
        const none = (): number[][] => edges.map(() => new Array<number>(bins).fill(0));
        const found = { edges, virus: none(), others: none() };
        countBy(selection, ({ length, virusScore }, index, prediction) => {
          const score = virusScore[index]!;
          if (Number.isNaN(score) || (prediction !== 'virus' && prediction !== 'others')) return;
          found[prediction][lengthBin(length[index]!, edges)]![scoreBin(score, bins)]! += 1;
        });
        return found;
      },
    ),
    /** Writes the numbers of the selected rows, ascending, as little-endian U32; answers with how many. */
    writeSelectedRows: db.transaction((selection: SequenceSelection, path: string): number =>
      writeRows(rowsOf(selection, { by: 'row', descending: false }), path),
    ),
    writeViralRows: (path: string): number =>
      inLittleMemory(db, () => db.transaction(() => writeRows(viralRows.iterate(), path))()),
  };
}

interface LoadedResults {
  readonly columns: ResultColumns;
  /** Indices into the columns. */
  readonly select: (selection: SequenceSelection) => Uint32Array;
  readonly order: (selection: SequenceSelection, sort: SequenceSort) => Uint32Array;
}

/** Within a transaction: the results as they are, of which only what has changed is read again. */
function resultLoader(db: Database.Database, provisional: ProvisionalChanges) {
  const isProvisional = db
    .prepare<[], number>(`SELECT 1 FROM temp.sqlite_schema WHERE name = 'sequence' AND type = 'table'`)
    .pluck();
  const changes = db.prepare<[], number>('SELECT total_changes()').pluck();
  const recordFiles = db.prepare<[], string>('SELECT path, sha256 FROM records_file').raw();
  let names: NameRankReader | null = null;
  let namesOf = '';
  let reader: ColumnReader | null = null;
  let columns: ResultColumns = newColumns(0);
  let loaded: LoadedResults | null = null;
  let loadedVersion = '';

  function rankNames(milliseconds: number): Uint32Array | null {
    const records = JSON.stringify(recordFiles.all());
    if (!names || records !== namesOf) names = nameRankReader(db);
    namesOf = records;
    return names.read(milliseconds);
  }
  function loadFinal(milliseconds: number): boolean {
    const version = `${changes.get()!} ${String(db.pragma('data_version', { simple: true }))}`;
    if (!reader || version !== loadedVersion) {
      // First: two of them would be in memory.
      forget();
      reader = columnReader(db);
      loadedVersion = version;
    }
    if (!reader.read(milliseconds)) return false;
    if (!loaded) show(reader.columns);
    return true;
  }
  /** Part by part, as they were derived. */
  function loadProvisional(milliseconds: number): boolean {
    const version = `provisional ${provisional.generation}`;
    if (version !== loadedVersion) {
      forget();
      loadedVersion = version;
    }
    const until = performance.now() + milliseconds;
    while (!loaded || provisional.ranges.length > 0) {
      if (performance.now() > until) return false;
      show(withRangesReadAnew(db, columns, provisional.ranges.slice(0, PARTS_PER_READ)));
      provisional.ranges.splice(0, PARTS_PER_READ);
    }
    return true;
  }
  function forget(): void {
    reader = null;
    loaded = null;
    columns = newColumns(0);
  }
  function show(present: ResultColumns): void {
    columns = present;
    loaded = withColumns(db, present, () => rankNames(Infinity)!);
  }
  function load(milliseconds: number): boolean {
    return isProvisional.get() ? loadProvisional(milliseconds) : loadFinal(milliseconds);
  }
  function results(): LoadedResults {
    load(Infinity);
    return loaded!;
  }
  return { load, results, rankNames };
}

function withColumns(
  db: Database.Database,
  columns: ResultColumns,
  nameRank: () => Uint32Array,
): LoadedResults {
  const search = remembered(1, (text: string) => searchRows(db, text));
  const late = lateColumns(db, columns);
  const select = remembered(1, (selection: SequenceSelection) =>
    selectSequences(columns, selection, search, late),
  );
  const headerRank = remembered(1, () => rankHeaders(db, nameRank()));
  const sources = {
    nameRank,
    headerRank,
    fileRank: () => rankFiles(readPlan(db).inputs.map(({ path }) => path)),
    late,
  };
  const order = remembered(KEPT_ORDERS, (selection: SequenceSelection, sort: SequenceSort) =>
    sortSelected(columns, select(selection), sort, sources),
  );
  return { columns, select, order };
}

/** Keeps the last few answers, by what was asked. */
function remembered<Question extends unknown[], Answer>(
  most: number,
  ask: (...question: Question) => Answer,
): (...question: Question) => Answer {
  const known = new Map<string, Answer>();
  return (...question) => {
    const key = JSON.stringify(question);
    const answer = known.has(key) ? known.get(key)! : ask(...question);
    known.delete(key);
    known.set(key, answer);
    const [oldest] = known.keys();
    if (known.size > most && oldest !== undefined) known.delete(oldest);
    return answer;
  };
}

/** Numbers of the records that have a text in their header, whose first word is the name; without regard to case. */
function searchRows(db: Database.Database, text: string): Uint32Array {
  const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const rows = db
    .prepare<[string], number>(
      String.raw`SELECT row FROM record WHERE coalesce(header, name) LIKE ? ESCAPE '\'`,
    )
    .pluck();
  return Uint32Array.from(rows.all(pattern));
}

function scoreBin(score: number, bins: number): number {
  return Math.min(bins - 1, Math.floor(score * bins));
}

function lengthBin(length: number, edges: readonly number[]): number {
  return Math.max(
    0,
    edges.findLastIndex((edge) => length >= edge),
  );
}

function writeRows(rows: Iterable<number>, path: string): number {
  const block = Buffer.allocUnsafe(ROWS_PER_WRITE * 4);
  const descriptor = openNew(path);
  let count = 0;
  let filled = 0;
  const flush = (): void => {
    for (let done = 0; done < filled;) done += writeSync(descriptor, block, done, filled - done);
    filled = 0;
  };
  try {
    for (const row of rows) {
      filled = block.writeUInt32LE(row, filled);
      count += 1;
      if (filled === block.length) flush();
    }
    flush();
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return count;
}
