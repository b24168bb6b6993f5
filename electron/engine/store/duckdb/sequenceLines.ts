import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBValue } from '@duckdb/node-api';
import type { SequenceSort } from '../../../contract/columns.ts';
import { addTable, type Connected } from './duckdb.ts';
import type { QueryTable } from './queryProcess.ts';
import type { ResultSource } from './resultSource.ts';
import { conditionOf, orderOf, type SequenceSelection } from './selection.ts';
import type { sequenceQueryMethods } from './sequenceQueries.ts';

/** Asks for one line of text for each selected sequence, in order. All are SQL expressions. */
export interface LinesQuestion {
  selection: SequenceSelection;
  sort: SequenceSort;
  /** Of `sequences` and of the other tables: c0, c1 and so on in the line. */
  columns: readonly string[];
  /** Of the columns and `place`, which counts the lines from 1. */
  line: string;
  /** A line before the first. */
  head?: string | undefined;
  /** Joined by their column `row`. */
  tables: readonly QueryTable[];
  /** Only these lines, counted from the first of them. */
  limit?: { rows: number; offset: number } | undefined;
  /** What to do with the lines, if not to give them: the beginning and end of a statement. */
  statement?: readonly [begin: string, end: string] | undefined;
}

/** Other questions wait no longer than this for the next lines. */
const WAIT_MS = 100;
const ROWS_AT_ONCE = 2000;

/** Lines of text that DuckDB itself writes: as fast as it can, and while the thread answers others. */
export function sequenceLineMethods(
  source: ResultSource,
  { selectedRows, sequencesOf }: ReturnType<typeof sequenceQueryMethods>,
) {
  interface Open extends Connected {
    lines: AsyncGenerator<readonly DuckDBValue[]>;
    next: Promise<IteratorResult<readonly DuckDBValue[], unknown>>;
  }
  const opened = new Map<number, Open>();
  let lastId = 0;

  /** Reads on while the last lines are being written. Who asks for them hears of an error. */
  function readOn(lines: Open['lines']): Open['next'] {
    const next = lines.next();
    next.catch(() => undefined);
    return next;
  }

  /** The calls of read pairs, which derived results lack. */
  async function pairs(selection: SequenceSelection, sort: SequenceSort): Promise<QueryTable> {
    const rows = await selectedRows(selection, sort);
    const found: QueryTable['rows'][number][] = [];
    for (let begin = 0; begin < rows.length; begin += ROWS_AT_ONCE)
      for (const one of await sequencesOf(rows.slice(begin, begin + ROWS_AT_ONCE)))
        found.push([one.row, one.pairScore, one.pairPrediction]);
    return {
      name: 'pairs',
      columns: [
        { name: 'row', type: 'INTEGER' },
        { name: 'score', type: 'DOUBLE' },
        { name: 'call', type: 'VARCHAR' },
      ],
      rows: found,
    };
  }

  async function closeLines(id: number): Promise<void> {
    const open = opened.get(id);
    opened.delete(id);
    open?.connection.interrupt();
    await open?.lines.return(undefined);
    open?.close();
  }

  return {
    /** Returns a number by which to ask for the lines. */
    openLines: async ({ selection, sort, limit, ...asked }: LinesQuestion): Promise<number> => {
      const { inputs, isPaired } = source.facts.labels();
      const { condition, picked } = conditionOf(selection, inputs);
      const isDerived = source.isDerived();
      const joined = isDerived && isPaired ? [await pairs(selection, sort)] : [];
      const sequences =
        joined.length === 0
          ? 'sequences'
          : '(SELECT sequences.* REPLACE (pairs.score::FLOAT AS pair_score, pairs.call AS pair_prediction) FROM sequences LEFT JOIN pairs USING (row)) AS sequences';
      // The rows of a finished run come in its order, unless they are joined with others.
      const isInOrder =
        sort.by === 'row' && !sort.descending && !isDerived && picked.length + asked.tables.length === 0;
      const rows =
        `SELECT ${asked.columns.map((sql, i) => `${sql} AS c${i}`).join(', ')} FROM ${sequences} ` +
        `${asked.tables.map(({ name }) => `LEFT JOIN ${name} USING (row)`).join(' ')} WHERE ${condition}` +
        (isInOrder ? '' : ` ORDER BY ${orderOf(sort, inputs)}`);
      // LIMIT would keep all of these lines in memory.
      const some = limit ? ` WHERE place BETWEEN 1 AND ${limit.rows}` : '';
      const [begin, end] = asked.statement ?? ['', ''];
      const head = asked.head === undefined ? '' : `SELECT ${asked.head} UNION ALL `;
      const own = await source.apart();
      for (const table of [...picked, ...joined, ...asked.tables]) await addTable(own, table);
      const lines = own.values(
        `${begin}${head}SELECT ${asked.line} FROM (SELECT *, row_number() OVER () - ${limit?.offset ?? 0} AS place FROM (${rows}))${some}${end}`,
      );
      opened.set((lastId += 1), { ...own, lines, next: readOn(lines) });
      return lastId;
    },
    /** The next lines in UTF-8: none if there are none yet, null if there are no more. */
    nextLines: async (id: number): Promise<{ count: number; bytes: Uint8Array } | null> => {
      const open = opened.get(id);
      if (!open) return null;
      const found = await Promise.race([open.next, sleep(WAIT_MS, null, { ref: false })]);
      if (found === null) return { count: 0, bytes: new Uint8Array() };
      if (found.done === true) return null;
      open.next = readOn(open.lines);
      return { count: found.value.length, bytes: Buffer.from(found.value.join('')) };
    },
    closeLines,
    closeAllLines: async () => {
      for (const id of opened.keys()) await closeLines(id);
    },
  };
}
