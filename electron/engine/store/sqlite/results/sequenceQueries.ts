import { closeSync, fsyncSync, writeSync } from 'node:fs';
import type Database from 'better-sqlite3';
import type { Prediction, SequenceResult } from '../../../../contract/results.ts';
import type { SequenceSort } from '../../../../contract/rpc/results.ts';
import { openNew } from '../../../files/runFiles.ts';
import type { LengthScores, LengthShare } from '../../../results/types.ts';
import { readPlan } from '../runRows.ts';
import { SEQUENCE_COLUMNS, toSequence, type SequenceColumns } from './queries.ts';
import { orderSql, selectionSql, type SequenceSelection } from './sequenceFilter.ts';

/** Each sequence has its record. LEFT, as SQLite then leaves out a record that nothing is asked of. */
const FROM = 'FROM sequence s LEFT JOIN record r ON r.row = s.row';
const ROWS_PER_WRITE = 65_536;

export interface FoundSequences {
  /** Sequences that pass the filter, on all pages together. */
  total: number;
  items: SequenceResult[];
}

export interface PredictionCounts {
  total: number;
  byPrediction: Record<Prediction, number>;
}

/** Answers what a window asks of the derived results: filtered, sorted and paged in SQLite. */
export function sequenceQueryMethods(db: Database.Database) {
  const { chunkLength } = readPlan(db);
  return {
    findSequences: db.transaction(
      (selection: SequenceSelection, sort: SequenceSort, offset: number, limit: number): FoundSequences => {
        const { where, values } = selectionSql(selection);
        const total = db.prepare<unknown[], number>(`SELECT count(*) ${FROM} ${where}`).pluck();
        const page = db.prepare<unknown[], SequenceColumns>(
          `SELECT ${SEQUENCE_COLUMNS} ${FROM} ${where} ${orderSql(sort)} LIMIT ? OFFSET ?`,
        );
        return {
          total: total.get(...values) ?? 0,
          items: page.all(...values, limit, offset).map((row) => toSequence(row, chunkLength)),
        };
      },
    ),
    countPredictions: (selection: SequenceSelection): PredictionCounts => {
      const { where, values } = selectionSql(selection);
      const byPrediction = { virus: 0, others: 0, not_scored: 0, failed: 0 };
      const rows = db
        .prepare<unknown[], { prediction: Prediction; n: number }>(
          `SELECT s.prediction, count(*) AS n ${FROM} ${where} GROUP BY s.prediction`,
        )
        .all(...values);
      for (const { prediction, n } of rows) byPrediction[prediction] = n;
      return { total: rows.reduce((sum, { n }) => sum + n, 0), byPrediction };
    },
    /** Scored sequences per bin of virus_score; bin i holds i/bins to below (i+1)/bins, the last one 1 as well. */
    scoreBins: (selection: SequenceSelection, bins: number): number[] => {
      const { where, values } = selectionSql(selection);
      const counts = new Array<number>(bins).fill(0);
      const rows = db
        .prepare<unknown[], { bin: number | null; n: number }>(
          `SELECT min(CAST(s.virus_score * ? AS INTEGER), ? - 1) AS bin, count(*) AS n ${FROM} ${where} GROUP BY bin`,
        )
        .all(bins, bins, ...values);
      for (const { bin, n } of rows) if (bin !== null) counts[bin] = n;
      return counts;
    },
    /** The numbers of the selected rows in the order asked for. */
    selectedRows: (selection: SequenceSelection, sort: SequenceSort): Uint32Array => {
      const { where, values } = selectionSql(selection);
      const rows = db.prepare<unknown[], number>(`SELECT s.row ${FROM} ${where} ${orderSql(sort)}`).pluck();
      return Uint32Array.from(rows.all(...values));
    },
    /** Calls by length; `edges` ascend, the first is 0, and the last bin is open. */
    lengthShares: (selection: SequenceSelection, edges: readonly number[]): LengthShare[] => {
      const { where, values } = selectionSql(selection);
      const bin = lengthBin(edges);
      const shares = edges.map((from, i) => ({ from, to: edges[i + 1] ?? null, virus: 0, others: 0 }));
      const rows = db
        .prepare<unknown[], { bin: number; prediction: Prediction; n: number }>(
          `SELECT ${bin} AS bin, s.prediction, count(*) AS n ${FROM} ${where} GROUP BY bin, s.prediction`,
        )
        .all(...values);
      for (const { bin: at, prediction, n } of rows)
        if (prediction === 'virus' || prediction === 'others') shares[at]![prediction] = n;
      return shares;
    },
    /** Calls by length and score; a score of 1 counts with the last bin. */
    lengthScores: (selection: SequenceSelection, edges: readonly number[], bins: number): LengthScores => {
      const { where, values } = selectionSql(selection);
      const none = (): number[][] => edges.map(() => new Array<number>(bins).fill(0));
      const found: LengthScores = { edges, virus: none(), others: none() };
      const rows = db
        .prepare<unknown[], { length: number; score: number | null; prediction: Prediction; n: number }>(
          `SELECT ${lengthBin(edges)} AS length, min(CAST(s.virus_score * ? AS INTEGER), ? - 1) AS score, s.prediction, count(*) AS n
           ${FROM} ${where} GROUP BY 1, 2, 3`,
        )
        .all(bins, bins, ...values);
      for (const { length, score, prediction, n } of rows)
        if (score !== null && (prediction === 'virus' || prediction === 'others'))
          found[prediction][length]![score] = n;
      return found;
    },
    /** Writes the numbers of the selected rows, ascending, as little-endian U32; answers with how many. */
    writeSelectedRows: (selection: SequenceSelection, path: string): number =>
      writeSelectedRows(db, selection, path),
  };
}

/** Number of the bin that a record's length falls into. */
function lengthBin(edges: readonly number[]): string {
  const bins = edges.slice(1).map((edge, i) => `WHEN r.length < ${edge} THEN ${i}`);
  return bins.length === 0 ? '0' : `CASE ${bins.join(' ')} ELSE ${edges.length - 1} END`;
}

function writeSelectedRows(db: Database.Database, selection: SequenceSelection, path: string): number {
  const { where, values } = selectionSql(selection);
  const rows = db.prepare<unknown[], number>(`SELECT s.row ${FROM} ${where} ORDER BY s.row`).pluck();
  const descriptor = openNew(path);
  const block = Buffer.alloc(4 * ROWS_PER_WRITE);
  let count = 0;
  let filled = 0;
  const flush = (): void => {
    for (let done = 0; done < filled;) done += writeSync(descriptor, block, done, filled - done);
    filled = 0;
  };
  try {
    for (const row of rows.iterate(...values)) {
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
