import type { DuckDBListValue } from '@duckdb/node-api';
import {
  columnName,
  columnsOf,
  SEQUENCE_FIELDS,
  sequenceColumn,
  type ColumnKey,
  type SequenceResult,
  type SequenceSort,
} from '../../../contract/columns.ts';
import { usage } from '../../../contract/errors.ts';
import { noPredictions, predictionSchema, type Prediction } from '../../../contract/results.ts';
import type { LengthBin, ResultCounts } from '../../../contract/rpc/results.ts';
import type { LabelledScore } from '../../results/calibration.ts';
import { areMates, callPair } from '../../results/sequenceRemarks.ts';
import type { RunLabels } from '../../results/sequenceRow.ts';
import type { InputResultSummary } from '../../results/types.ts';
import { writeNumbers } from '../../system/runFiles.ts';
import { addTable } from './duckdb.ts';
import { quoted } from './quoted.ts';
import type { ResultSource } from './resultSource.ts';
import { conditionOf, orderOf, sortKeyOf, type SequenceSelection } from './selection.ts';

/** So many rows of an order are found at once without sorting all. */
const FIRST_ROWS = 2000;
/** One row of this many is looked at to find those farther on. */
const SAMPLED = 101;

export interface FoundSequences {
  /** Sequences that pass the filter, on all pages together. */
  total: number;
  items: SequenceResult[];
}

const IN_ORDER: SequenceSort = { by: 'row', descending: false };

/** Answers a window's queries about the sequence results, as far as they are derived. */
export function sequenceQueryMethods(source: ResultSource) {
  const labels = source.facts.labels();
  const { inputs, isPaired } = labels;
  const fields = fieldsOf(labels);
  const inputNumbers = new Map(inputs.map((label, input) => [label, input]));
  /** The last selection that was counted. */
  let counted: { key: string; counts: ResultCounts } | null = null;
  /** The part of an order that has the last page. */
  let stretch: { key: string; first: number; rows: Uint32Array } | null = null;

  /** Runs a query about a selection; the row numbers that the selection names are in tables meanwhile. */
  async function asking<Answer>(
    selection: SequenceSelection,
    ask: (condition: string) => Promise<Answer>,
  ): Promise<Answer> {
    const duck = await source.duck();
    const { condition, picked } = conditionOf(selection, inputs);
    try {
      for (const table of picked) await addTable(duck, table);
      return await ask(condition);
    } finally {
      for (const { name } of picked) await duck.run(`DROP TABLE IF EXISTS ${name}`);
    }
  }

  const ask = async <Row extends object>(
    selection: SequenceSelection,
    sql: (condition: string) => string,
  ): Promise<Row[]> =>
    asking(selection, async (condition) => (await source.duck()).rows<Row>(sql(condition)));

  /** The numbers of the selected rows in the requested order. */
  function order(
    selection: SequenceSelection,
    sort: SequenceSort,
    and = '',
    limit = '',
  ): Promise<Uint32Array> {
    return asking(selection, async (condition) => {
      const result = await (
        await source.duck()
      ).run(`SELECT row FROM sequences WHERE ${condition} ${and} ORDER BY ${orderOf(sort, inputs)} ${limit}`);
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

  /**
   * Finds the rows from `begin` to `end` of an order, and some around them. Sorting all of ten million takes too much memory, so a
   * sample says between which keys they are, and only what is between these is sorted.
   */
  async function stretchAround(
    selection: SequenceSelection,
    sort: SequenceSort,
    { begin, end, total }: { begin: number; end: number; total: number },
  ): Promise<{ first: number; rows: Uint32Array }> {
    if (end <= FIRST_ROWS) return { first: 0, rows: await order(selection, sort, '', `LIMIT ${FIRST_ROWS}`) };
    const sample = await order(selection, sort, `AND row % ${SAMPLED} = 0`);
    // At first four standard deviations of a rank in the sample.
    for (let margin = 2 * Math.sqrt(SAMPLED / total); ; margin *= 4) {
      const [low, high] = [begin / total - margin, end / total + margin].map(
        (share) => sample[Math.floor(share * sample.length)],
      );
      const key = sortKeyOf(sort, inputs);
      const side = (how: '>=' | '<', row: number | undefined): string =>
        row === undefined ? 'true' : `key ${how} (SELECT ${key} FROM placed WHERE place = ${row})`;
      // Those before the stretch are only counted, as one group.
      const found = await ask<{ row: number | null; count: number }>(
        selection,
        (condition) =>
          `SELECT CASE WHEN ${side('>=', low)} THEN row END AS row, count(*)::INTEGER AS count
           FROM (SELECT row, ${key} AS key FROM sequences WHERE ${condition}) WHERE ${side('<', high)} GROUP BY 1 ORDER BY any_value(key)`,
      );
      const first = found[0]?.row === null ? found.shift()!.count : 0;
      const isWhole = low === undefined && high === undefined;
      if (isWhole || (first <= begin && first + found.length >= end))
        return { first, rows: Uint32Array.from(found, ({ row }) => row!) };
    }
  }

  const keyOf = (selection: SequenceSelection, sort?: SequenceSort): string =>
    `${source.version()} ${JSON.stringify([selection, sort])}`;

  /**
   * Returns the sequences in the order of the given rows. Rejects if one is gone, because the results were
   * derived again meanwhile.
   */
  async function sequencesOf(rows: Uint32Array): Promise<SequenceResult[]> {
    if (rows.length === 0) return [];
    const found = new Map((await readSequences(rows)).map((sequence) => [sequence.row, sequence]));
    return Array.from(rows, (row) => {
      const sequence = found.get(row);
      if (!sequence) throw usage('The results of this run changed while they were read.', 'Try again.');
      return sequence;
    });
  }

  async function readSequences(wanted: Uint32Array | readonly number[]): Promise<SequenceResult[]> {
    const sequences = await readRows(wanted);
    if (isPaired && source.isDerived()) await addPairs(sequences);
    return sequences;
  }

  async function readRows(wanted: Uint32Array | readonly number[]): Promise<SequenceResult[]> {
    const duck = await source.duck();
    const rows = await duck.rows<Omit<SequenceResult, 'input'> & { input: string }>(
      `SELECT ${fields} FROM placed WHERE place IN (${wanted.join(', ')})`,
    );
    return rows.map((row) => Object.assign(row, { input: inputNumbers.get(row.input) ?? 0 }));
  }

  /** Adds the calls of read pairs if both mates have results: results.parquet has them, what is derived has not. */
  async function addPairs(sequences: SequenceResult[]): Promise<void> {
    const { rows, mates } = source.facts.labels();
    const rowOf = ({ row, input }: SequenceResult): number | null => {
      const [own, other] = [rows[input], mates[input]];
      const place = own ? row - own.firstRow : 0;
      return own && other && place < other.records ? other.firstRow + place : null;
    };
    const wanted = sequences.flatMap((sequence) => rowOf(sequence) ?? []);
    if (wanted.length === 0) return;
    const found = new Map((await readRows(wanted)).map((sequence) => [sequence.row, sequence]));
    for (const sequence of sequences) {
      const mate = found.get(rowOf(sequence) ?? -1);
      // A sequence whose call may change has no joint call.
      if (!mate || !sequence.settled || !mate.settled) continue;
      if (!areMates({ ...sequence, name: sequence.seqName }, { ...mate, name: mate.seqName })) continue;
      const pair = callPair(sequence, mate);
      sequence.pairScore = pair && pair.score;
      sequence.pairPrediction = pair && pair.prediction;
    }
  }

  /** Counts the selected sequences and, for an order, finds its first rows in the same reading of the headers. */
  async function countPredictions(selection: SequenceSelection, sort?: SequenceSort): Promise<ResultCounts> {
    const key = keyOf(selection);
    if (counted?.key === key) return counted.counts;
    const keyOfOrder = sort && keyOf(selection, sort);
    const columns = [
      ...predictionSchema.options.map(
        (one) => `count(*) FILTER (prediction = ${quoted(one)})::DOUBLE AS ${one}`,
      ),
      'count(*) FILTER (NOT settled)::DOUBLE AS unsettled',
      `${sort ? `min_by(row, ${sortKeyOf(sort, inputs)}, ${FIRST_ROWS})` : 'NULL'} AS first`,
    ];
    const [found] = await ask<Record<Prediction | 'unsettled', number> & { first: DuckDBListValue | null }>(
      selection,
      (condition) => `SELECT ${columns.join(', ')} FROM sequences WHERE ${condition}`,
    );
    const { unsettled, first, ...byPrediction } = found!;
    const total = Object.values(byPrediction).reduce((sum, one) => sum + one, 0);
    if (keyOfOrder !== undefined)
      stretch = { key: keyOfOrder, first: 0, rows: Uint32Array.from((first?.items ?? []) as number[]) };
    counted = { key, counts: { total, byPrediction, unsettled } };
    return counted.counts;
  }

  return {
    sequence: async (row: number): Promise<SequenceResult | null> =>
      (await readSequences([Math.trunc(row)]))[0] ?? null,
    /** The columns of which at least one of the selected sequences has a value: a flag if it is worth a remark. */
    columnsWithValues: async (selection: SequenceSelection): Promise<ColumnKey[]> => {
      const wanted = SEQUENCE_FIELDS.filter((key) => sequenceColumn(key).needs === key);
      const [found] = await ask<Partial<Record<ColumnKey, boolean>>>(
        selection,
        (condition) =>
          `SELECT ${wanted.map((key) => `coalesce(bool_or(${hasValue(key)}), false) AS "${key}"`).join(', ')} FROM sequences WHERE ${condition}`,
      );
      return wanted.filter((key) => found?.[key]);
    },
    sequencesOf,
    findSequences: async (
      selection: SequenceSelection,
      sort: SequenceSort,
      offset: number,
      limit: number,
    ): Promise<FoundSequences> => {
      const { total } = await countPredictions(selection, selection.filter.search ? sort : undefined);
      const [begin, end] = [Math.min(offset, total), Math.min(offset + limit, total)];
      const key = keyOf(selection, sort);
      if (stretch?.key !== key || begin < stretch.first || end > stretch.first + stretch.rows.length)
        stretch = { key, ...(await stretchAround(selection, sort, { begin, end, total })) };
      const { first, rows } = stretch;
      return { total, items: await sequencesOf(rows.slice(begin - first, end - first)) };
    },
    countPredictions,
    inputSummaries: async (): Promise<InputResultSummary[]> => {
      const found = await ask<{ label: string; prediction: Prediction; count: bigint; bases: number }>(
        { filter: {} },
        () =>
          'SELECT input AS label, prediction, count(*) AS count, sum(length)::DOUBLE AS bases FROM sequences GROUP BY ALL',
      );
      const summaries = new Map<number, InputResultSummary>();
      for (const { label, prediction, count, bases } of found) {
        const input = inputNumbers.get(label) ?? 0;
        const none = { input, sequences: 0, bases: 0, byPrediction: noPredictions() };
        const summary = summaries.get(input) ?? none;
        summaries.set(input, summary);
        summary.sequences += Number(count);
        summary.bases += bases;
        summary.byPrediction[prediction] += Number(count);
      }
      return [...summaries.values()].sort((a, b) => a.input - b.input);
    },
    /** Sequences of each call per bin of virus_score; bin i holds i/bins to below (i+1)/bins, the last one 1 as well. */
    scoreBins: async (selection: SequenceSelection, bins: number) => {
      const none = () => new Array<number>(bins).fill(0);
      const counts = { virus: none(), others: none() };
      const found = await ask<{ bin: number; prediction: 'virus' | 'others'; count: bigint }>(
        selection,
        (condition) =>
          `SELECT least(${bins - 1}, floor(virus_score::DOUBLE * ${bins}))::INTEGER AS bin, prediction, count(*) AS count
           FROM sequences WHERE prediction IN ('virus', 'others') AND ${condition} GROUP BY ALL`,
      );
      for (const { bin, prediction, count } of found) counts[prediction][bin] = Number(count);
      return counts;
    },
    /** `edges` ascend, the first is 0. */
    lengthBins: async (selection: SequenceSelection, edges: readonly number[]): Promise<LengthBin[]> => {
      const bins = edges.map((from, i) => ({
        from,
        to: edges[i + 1] ?? null,
        virus: 0,
        others: 0,
        not_scored: 0,
      }));
      const cases = edges.map((edge, i) => `WHEN length >= ${edge} THEN ${i}`).toReversed();
      const found = await ask<{ bin: number; prediction: 'virus' | 'others' | 'not_scored'; count: bigint }>(
        selection,
        (condition) =>
          `SELECT CASE ${cases.join(' ')} END AS bin, prediction, count(*) AS count FROM sequences
           WHERE prediction <> 'failed' AND ${condition} GROUP BY ALL`,
      );
      for (const { bin, prediction, count } of found) bins[bin]![prediction] = Number(count);
      return bins;
    },
    labelledScores: (input: number): Promise<LabelledScore[]> =>
      ask<LabelledScore>(
        { filter: { input } },
        (condition) =>
          `SELECT length::DOUBLE AS length, virus_score AS score FROM sequences WHERE ${condition} ORDER BY row`,
      ),
    selectedRows: (selection: SequenceSelection, sort: SequenceSort) => order(selection, sort),
    /** Writes the numbers of the selected rows, ascending, as little-endian U32; returns how many there are. */
    writeSelectedRows: async (selection: SequenceSelection, path: string): Promise<number> =>
      writeNumbers(await order(selection, IN_ORDER), path),
  };
}

/** The fields of a row as the window gets them. Those that the run has not are null. */
function fieldsOf(labels: RunLabels): string {
  const stored = new Set<ColumnKey>([...columnsOf('results', labels), 'settled']);
  return SEQUENCE_FIELDS.map((key) => {
    if (!stored.has(key)) return `NULL AS "${key}"`;
    return `${columnName(key)}${sequenceColumn(key).isWide ? '::DOUBLE' : ''} AS "${key}"`;
  }).join(', ');
}

function hasValue(key: ColumnKey): string {
  if (key === 'settled') return 'NOT settled';
  return sequenceColumn(key).kind === 'flag' ? columnName(key) : `${columnName(key)} IS NOT NULL`;
}
