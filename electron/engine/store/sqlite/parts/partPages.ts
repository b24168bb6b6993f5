import type Database from 'better-sqlite3';
import type { PartState } from '../../../../contract/runState.ts';
import { toPartRow, type PartColumns } from './partRows.ts';
import type { StoredPart } from '../../types.ts';

export interface PartPageRequest {
  input?: number | undefined;
  state?: PartState | undefined;
  offset: number;
  limit: number;
}

export interface PartPage {
  total: number;
  /** `log`: the log file of the newest attempt, relative to the run folder. */
  items: (StoredPart & { log: string | null })[];
}

/** Parts as a window lists them, in the order of the run. One that was cut in two is left out unless asked for: its halves
 * stand for it. */
export function partPageMethods(db: Database.Database) {
  const rowsOfInput = db.prepare<[number], { firstRow: number | null; records: number | null }>(
    'SELECT first_row AS firstRow, records FROM input WHERE input = ?',
  );
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
      return {
        total: total.get(...values) ?? 0,
        items: page.all(...values, limit, offset).map((row) => ({ ...toPartRow(row), log: row.log })),
      };
    }),
  };
}
