import type Database from 'better-sqlite3';
import { closeSync, fsyncSync, writeSync } from 'node:fs';
import { type AppFailure, usage } from '../../../contract/errors.ts';
import { isTooShort } from '../../../contract/evidence.ts';
import {
  noPredictions,
  type Evidence,
  type FrameName,
  type Prediction,
  type Reason,
  type SequenceResult,
} from '../../../contract/results.ts';
import type { ResultCounts } from '../../../contract/rpc/results.ts';
import type { SequenceSort } from '../../../contract/rpc/results.ts';
import { openNew } from '../../system/runFiles.ts';
import type { InputResultSummary, LengthScores, LengthShare } from '../../results/types.ts';
import { areMates, callPair, mateRows } from '../../results/sequenceRemarks.ts';
import { pValue, type LabelledScore } from '../../results/calibration.ts';
import { readInputs } from '../sqlite/runRows.ts';
import { runLabels, type ResultSource } from './resultSource.ts';
import { conditionOf, orderOf, type SequenceSelection } from './selection.ts';

/** Number of orders that are cached for paging: each takes 4 bytes per sequence. */
const KEPT_ORDERS = 3;
/** Pages up to here are found without sorting everything. */
const FIRST_ROWS = 2000;

export interface FoundSequences {
  /** Sequences that pass the filter, on all pages together. */
  total: number;
  items: SequenceResult[];
}

type ResultRow = [
  row: number,
  length: bigint,
  nChunks: number,
  prediction: Prediction,
  reason: Reason,
  virusScore: number | null,
  nChunksScored: number,
  nChunksViral: number,
  nFramesScored: number,
  bestChunkStart: bigint | null,
  bestChunkEnd: bigint | null,
  bestFrame: FrameName | null,
  bestScore: number | null,
  secondScore: number | null,
  evidence: Evidence | null,
  nBasesScored: bigint,
  nBasesViral: bigint,
  settled: boolean,
  seqName: string,
  header: string,
  input: string,
  terminalRepeat: 'DTR' | 'ITR' | null,
  terminalRepeatLength: number | null,
  nLost: number,
  nLostToTag: number,
  nLostToTga: number,
  geneticCodeHint: 4 | 15 | null,
];
const RESULT_COLUMNS = `row, length, n_chunks, prediction, reason, virus_score, n_chunks_scored, n_chunks_viral, n_frames_scored,
  best_chunk_start, best_chunk_end, best_frame, best_score, second_score, evidence, n_bases_scored, n_bases_viral, settled,
  seq_name, header, input, terminal_repeat, terminal_repeat_length, n_chunks_lost, n_chunks_lost_to_tag, n_chunks_lost_to_tga,
  genetic_code_hint`;

const IN_ORDER: SequenceSort = { by: 'row', descending: false };

/** Answers a window's queries about the sequence results, as far as they are derived. */
export function sequenceQueryMethods(db: Database.Database, source: ResultSource) {
  const { inputs, isPaired, trusted } = runLabels(db);
  const toSequence = sequenceOf(inputs);
  const orders = new Map<string, Uint32Array>();

  /** Runs a query about a selection; the row numbers that the selection names are in tables meanwhile. */
  async function asking<Answer>(
    selection: SequenceSelection,
    ask: (condition: string) => Promise<Answer>,
  ): Promise<Answer> {
    const { connection } = await source.duck();
    const tables: { name: string; rows: readonly number[] }[] = [];
    const condition = conditionOf(selection, inputs, (rows) => {
      const name = `picked_${tables.length}`;
      tables.push({ name, rows });
      return name;
    });
    try {
      for (const { name, rows } of tables) {
        await connection.run(`CREATE OR REPLACE TEMP TABLE ${name} (row INTEGER)`);
        const appender = await connection.createAppender(name);
        for (const row of rows) {
          appender.appendInteger(row);
          appender.endRow();
        }
        appender.closeSync();
      }
      return await ask(condition);
    } finally {
      for (const { name } of tables) await connection.run(`DROP TABLE IF EXISTS ${name}`);
    }
  }

  const ask = async <Row extends unknown[]>(
    selection: SequenceSelection,
    sql: (condition: string) => string,
  ): Promise<Row[]> =>
    asking(selection, async (condition) => (await source.duck()).rows<Row>(sql(condition)));

  /** The numbers of the selected rows in the requested order; those of the last few queries are cached. */
  async function order(selection: SequenceSelection, sort: SequenceSort): Promise<Uint32Array> {
    const key = keyOf(selection, sort);
    const rows = orders.get(key) ?? (await readOrder(selection, sort));
    orders.delete(key);
    orders.set(key, rows);
    const [oldest] = orders.keys();
    if (orders.size > KEPT_ORDERS && oldest !== undefined) orders.delete(oldest);
    return rows;
  }

  function readOrder(selection: SequenceSelection, sort: SequenceSort): Promise<Uint32Array> {
    return asking(selection, async (condition) => {
      const result = await (
        await source.duck()
      ).run(`SELECT row FROM sequences WHERE ${condition} ORDER BY ${orderOf(sort, inputs)}`);
      const rows = new Uint32Array(result.rowCount);
      let filled = 0;
      for (let i = 0; i < result.chunkCount; i++) {
        const values = result.getChunk(i).getColumnValues(0) as number[];
        rows.set(values, filled);
        filled += values.length;
      }
      return rows;
    });
  }

  const keyOf = (selection: SequenceSelection, sort: SequenceSort): string =>
    `${source.version()} ${JSON.stringify([selection, sort])}`;

  /**
   * Returns the sequences in the order of the given rows. Rejects if one is gone, because the results were
   * derived again meanwhile.
   */
  async function sequencesOf(rows: Uint32Array): Promise<SequenceResult[]> {
    if (rows.length === 0) return [];
    const [first, last] = rows.reduce(
      ([low, high], row) => [Math.min(low, row), Math.max(high, row)],
      [rows[0]!, 0],
    );
    const found = new Map<number, SequenceResult>();
    // The bounds let DuckDB skip whole row groups.
    const read = await (
      await source.duck()
    ).rows<ResultRow>(
      `SELECT ${RESULT_COLUMNS} FROM sequences WHERE row BETWEEN ${first} AND ${last} AND row IN (${rows.join(', ')})`,
    );
    for (const row of read) {
      found.set(row[0], toSequence(row));
    }
    await addMore([...found.values()]);
    return Array.from(rows, (row) => {
      const sequence = found.get(row);
      if (!sequence) throw resultsChanged();
      return sequence;
    });
  }

  /** Adds p-values, and the calls of read pairs if both mates have results. */
  async function addMore(sequences: SequenceResult[]): Promise<void> {
    for (const sequence of sequences) sequence.pValue = pValue(trusted, sequence.length, sequence.virusScore);
    if (!isPaired) return;
    const stored = readInputs(db);
    const mates = mateRows(stored);
    const rowOf = ({ row, input }: SequenceResult): number | null => {
      const [own, other] = [stored[input]?.prepared, mates[input]];
      const place = own ? row - own.firstRow : 0;
      return own && other && place < other.records ? other.firstRow + place : null;
    };
    const rows = sequences.flatMap((sequence) => rowOf(sequence) ?? []);
    if (rows.length === 0) return;
    const read = await (
      await source.duck()
    ).rows<ResultRow>(`SELECT ${RESULT_COLUMNS} FROM sequences WHERE row IN (${rows.join(', ')})`);
    const found = new Map(read.map((row) => [row[0], toSequence(row)]));
    for (const sequence of sequences) {
      const mate = found.get(rowOf(sequence) ?? -1);
      // A sequence whose call may change has no joint call.
      if (
        mate &&
        sequence.settled &&
        mate.settled &&
        areMates({ ...sequence, name: sequence.seqName }, { ...mate, name: mate.seqName })
      )
        sequence.pair = callPair(sequence, mate);
    }
  }

  async function countPredictions(selection: SequenceSelection): Promise<ResultCounts> {
    const byPrediction = noPredictions();
    const counts = await ask<[Prediction, bigint, bigint]>(
      selection,
      (condition) =>
        `SELECT prediction, count(*), count(*) FILTER (NOT settled) FROM sequences WHERE ${condition} GROUP BY ALL`,
    );
    let [total, unsettled] = [0, 0];
    for (const [prediction, count, open] of counts) {
      unsettled += Number(open);
      byPrediction[prediction] = Number(count);
      total += Number(count);
    }
    return { total, byPrediction, unsettled };
  }

  return {
    sequence: async (row: number): Promise<SequenceResult | null> => {
      const [found] = await (
        await source.duck()
      ).rows<ResultRow>(`SELECT ${RESULT_COLUMNS} FROM sequences WHERE row = ${Math.trunc(row)}`);
      if (!found) return null;
      const sequence = toSequence(found);
      await addMore([sequence]);
      return sequence;
    },
    sequencesOf,
    findSequences: async (
      selection: SequenceSelection,
      sort: SequenceSort,
      offset: number,
      limit: number,
    ): Promise<FoundSequences> => {
      if (offset + limit > FIRST_ROWS || orders.has(keyOf(selection, sort))) {
        const rows = await order(selection, sort);
        return { total: rows.length, items: await sequencesOf(rows.slice(offset, offset + limit)) };
      }
      const { total } = await countPredictions(selection);
      const found = await ask<[number]>(
        selection,
        (condition) =>
          `SELECT row FROM sequences WHERE ${condition} ORDER BY ${orderOf(sort, inputs)} LIMIT ${limit} OFFSET ${offset}`,
      );
      return { total, items: await sequencesOf(Uint32Array.from(found, ([row]) => row)) };
    },
    countPredictions,
    inputSummaries: async (): Promise<InputResultSummary[]> => {
      const found = await (
        await source.duck()
      ).rows<[string, Prediction, bigint, number]>(
        'SELECT input, prediction, count(*), sum(length)::DOUBLE FROM sequences GROUP BY ALL',
      );
      const summaries = new Map<number, InputResultSummary>();
      for (const [label, prediction, count, bases] of found) {
        const input = inputs.indexOf(label);
        const summary = summaries.get(input) ?? {
          input,
          sequences: 0,
          bases: 0,
          byPrediction: noPredictions(),
        };
        summaries.set(input, summary);
        summary.sequences += Number(count);
        summary.bases += bases;
        summary.byPrediction[prediction] += Number(count);
      }
      return [...summaries.values()].sort((a, b) => a.input - b.input);
    },
    /** Scored sequences per bin of virus_score; bin i holds i/bins to below (i+1)/bins, the last one 1 as well. */
    scoreBins: async (selection: SequenceSelection, bins: number): Promise<number[]> => {
      const counts = new Array<number>(bins).fill(0);
      const found = await ask<[number, bigint]>(
        selection,
        (condition) =>
          `SELECT ${scoreBin(bins)} AS bin, count(*) FROM sequences WHERE virus_score IS NOT NULL AND ${condition} GROUP BY ALL`,
      );
      for (const [bin, count] of found) counts[bin] = Number(count);
      return counts;
    },
    /** Calls by length; `edges` ascend, the first is 0, and the last bin is open-ended. */
    lengthShares: async (selection: SequenceSelection, edges: readonly number[]): Promise<LengthShare[]> => {
      const shares = edges.map((from, i) => ({ from, to: edges[i + 1] ?? null, virus: 0, others: 0 }));
      const found = await ask<[number, 'virus' | 'others', bigint]>(
        selection,
        (condition) =>
          `SELECT ${lengthBin(edges)} AS bin, prediction, count(*) FROM sequences
           WHERE prediction IN ('virus', 'others') AND ${condition} GROUP BY ALL`,
      );
      for (const [bin, prediction, count] of found) shares[bin]![prediction] = Number(count);
      return shares;
    },
    /** Calls by length and score; a score of 1 counts with the last bin. */
    lengthScores: async (
      selection: SequenceSelection,
      edges: readonly number[],
      bins: number,
    ): Promise<LengthScores> => {
      const none = (): number[][] => edges.map(() => new Array<number>(bins).fill(0));
      const scores = { edges, virus: none(), others: none() };
      const found = await ask<[number, number, 'virus' | 'others', bigint]>(
        selection,
        (condition) =>
          `SELECT ${lengthBin(edges)} AS length_bin, ${scoreBin(bins)} AS score_bin, prediction, count(*) FROM sequences
           WHERE prediction IN ('virus', 'others') AND virus_score IS NOT NULL AND ${condition} GROUP BY ALL`,
      );
      for (const [length, score, prediction, count] of found)
        scores[prediction][length]![score] = Number(count);
      return scores;
    },
    labelledScores: async (input: number): Promise<LabelledScore[]> => {
      const found = await ask<[bigint, number | null]>(
        { filter: { input } },
        (condition) => `SELECT length, virus_score FROM sequences WHERE ${condition} ORDER BY row`,
      );
      return found.map(([length, score]) => ({ length: Number(length), score }));
    },
    selectedRows: order,
    /**
     * Writes the numbers of the selected rows, ascending, as little-endian U32; returns how many there are.
     */
    writeSelectedRows: async (selection: SequenceSelection, path: string): Promise<number> =>
      writeRows(await order(selection, IN_ORDER), path),
  };
}

/** `inputs`: the labels of the inputs by number. */
function sequenceOf(inputs: readonly string[]): (found: ResultRow) => SequenceResult {
  const numbers = new Map(inputs.map((label, input) => [label, input]));
  return (found) => {
    const [row, length, nChunks, prediction, reason, virusScore, nChunksScored, nChunksViral, nFramesScored] =
      found;
    const [, , , , , , , , , start, end, bestFrame, bestScore, secondScore, evidence, basesScored, basesViral, settled] = found; // prettier-ignore
    const [, , , , , , , , , , , , , , , , , , seqName, header, input, repeat, repeatLength, nLost, nLostToTag, nLostToTga, geneticCodeHint] = found; // prettier-ignore
    return {
      row,
      seqName,
      header,
      input: numbers.get(input) ?? 0,
      length: Number(length),
      tooShort: isTooShort(Number(length)),
      virusScore,
      prediction,
      reason,
      nChunks,
      nChunksScored,
      nChunksViral,
      viralFraction: nChunksScored === 0 ? null : nChunksViral / nChunksScored,
      nBasesScored: Number(basesScored),
      nBasesViral: Number(basesViral),
      bestChunkStart: start === null ? null : Number(start),
      bestChunkEnd: end === null ? null : Number(end),
      bestFrame,
      nFramesScored,
      bestScore,
      secondScore,
      evidence,
      settled,
      terminalRepeat: repeat && { kind: repeat, length: repeatLength ?? 0 },
      lostChunks: { all: nLost, toTag: nLostToTag, toTga: nLostToTga },
      geneticCodeHint,
      pValue: null,
      pair: null,
    };
  };
}

/** A score of 1 counts with the last bin. */
function scoreBin(bins: number): string {
  return `least(${bins - 1}, floor(virus_score::DOUBLE * ${bins}))::INTEGER`;
}

function lengthBin(edges: readonly number[]): string {
  const cases = edges.slice(1).map((edge, i) => `WHEN length < ${edge} THEN ${i}`);
  return cases.length === 0 ? '0' : `CASE ${cases.join(' ')} ELSE ${edges.length - 1} END`;
}

function resultsChanged(): AppFailure {
  return usage('The results of this run changed while they were read.', 'Try again.');
}

const ROWS_BLOCK_BYTES = 1 << 16;

/** Writes numbers as little-endian U32; returns how many there are. */
export function writeRows(rows: Iterable<number>, path: string): number {
  const block = Buffer.alloc(ROWS_BLOCK_BYTES);
  let [filled, count] = [0, 0];
  const descriptor = openNew(path);
  const flush = (): void => {
    for (let done = 0; done < filled;) done += writeSync(descriptor, block, done, filled - done);
    filled = 0;
  };
  try {
    for (const row of rows) {
      filled = block.writeUInt32LE(row, filled);
      count++;
      if (filled === ROWS_BLOCK_BYTES) flush();
    }
    flush();
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return count;
}
