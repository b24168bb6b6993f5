import type Database from 'better-sqlite3';
import type { PartState } from '../../../../contract/runState.ts';
import { toPartRow, type PartColumns } from './partRows.ts';
import { readInputs } from '../runRows.ts';
import type { StoredInput, StoredPart } from '../../types.ts';

export interface PartPageRequest {
  input?: number | undefined;
  state?: PartState | undefined;
  offset: number;
  limit: number;
}

export interface PartPage {
  total: number;
  items: ListedPart[];
}

export interface ListedPart extends StoredPart {
  /** The log file of the newest attempt, relative to the run folder. */
  log: string | null;
  /** Names of its first and last sequence; long names are cut. */
  firstName: string;
  lastName: string;
  /** Paths of the files that contain its sequences. */
  files: string[];
}

/**
 * Parts as a window lists them, in the order of the run. A part that was cut in two is left out unless
 * requested, because its halves replace it.
 */
export function partPageMethods(db: Database.Database) {
  const rowsOfInput = db.prepare<[number], { firstRow: number | null; records: number | null }>(
    'SELECT first_row AS firstRow, records FROM input WHERE input = ?',
  );
  const nameOf = db
    .prepare<[number], string>('SELECT substr(name, 1, 200) FROM record WHERE row = ?')
    .pluck();
  /** Sequences without a name, and those of a file that is still being read, are shown by number. */
  const nameAt = (row: number): string => nameOf.get(row) || String(row + 1);
  function filesOf({ firstRow, lastRow }: StoredPart, inputs: StoredInput[]): string[] {
    return inputs
      .filter(
        ({ prepared }) =>
          prepared !== null &&
          prepared.firstRow <= lastRow &&
          prepared.firstRow + prepared.records > firstRow,
      )
      .map(({ path }) => path);
  }

  function listed(row: PartColumns & { log: string | null }, inputs: StoredInput[]): ListedPart {
    const part = toPartRow(row);
    const [firstName, lastName] = [nameAt(part.firstRow), nameAt(part.lastRow)];
    return { ...part, log: row.log, firstName, lastName, files: filesOf(part, inputs) };
  }

  return {
    pageParts: db.transaction(({ input, state, offset, limit }: PartPageRequest): PartPage => {
      const conditions = state === undefined ? [`state <> 'split'`] : ['state = ?'];
      const values: (string | number)[] = state === undefined ? [] : [state];
      if (input !== undefined) {
        const rows = rowsOfInput.get(input);
        if (!rows || rows.firstRow === null) return { total: 0, items: [] };
        conditions.push('last_row >= ?', 'first_row < ?');
        values.push(rows.firstRow, rows.firstRow + (rows.records ?? Number.MAX_SAFE_INTEGER));
      }
      const where = `WHERE ${conditions.join(' AND ')}`;
      const total = db.prepare<unknown[], number>(`SELECT count(*) FROM part ${where}`).pluck();
      const page = db.prepare<unknown[], PartColumns & { log: string | null }>(
        `SELECT part.*, (SELECT log FROM attempt WHERE attempt.part = part.key ORDER BY attempt DESC LIMIT 1) AS log
         FROM part ${where} ORDER BY number, key LIMIT ? OFFSET ?`,
      );
      const inputs = readInputs(db);
      return {
        total: total.get(...values) ?? 0,
        items: page.all(...values, limit, offset).map((row) => listed(row, inputs)),
      };
    }),
  };
}
