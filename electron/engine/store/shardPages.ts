import type Database from 'better-sqlite3';
import type { ShardState } from '../../contract/runState.ts';
import { toShardRow, type ShardColumns } from './shardRows.ts';
import type { StoredShard } from './types.ts';

export interface ShardPageRequest {
  input?: number | undefined;
  state?: ShardState | undefined;
  offset: number;
  limit: number;
}

export interface ShardPage {
  total: number;
  /** `log`: the log file of the newest attempt, relative to the run folder. */
  items: (StoredShard & { log: string | null })[];
}

/** Parts as a window lists them, in the order of the run. One that was cut in two is left out unless asked for: its halves
 * stand for it. */
export function shardPageMethods(db: Database.Database) {
  const rowsOfInput = db.prepare<[number], { firstRow: number | null; records: number | null }>(
    'SELECT first_row AS firstRow, records FROM input WHERE input = ?',
  );
  return {
    pageShards: db.transaction(({ input, state, offset, limit }: ShardPageRequest): ShardPage => {
      const conditions = state === undefined ? [`state <> 'split'`] : ['state = ?'];
      const values: (string | number)[] = state === undefined ? [] : [state];
      if (input !== undefined) {
        const rows = rowsOfInput.get(input);
        if (!rows || rows.firstRow === null) return { total: 0, items: [] };
        conditions.push('last_row >= ?', 'first_row < ?');
        values.push(rows.firstRow, rows.firstRow + (rows.records ?? Number.MAX_SAFE_INTEGER));
      }
      const where = `WHERE ${conditions.join(' AND ')}`;
      const total = db.prepare<unknown[], number>(`SELECT count(*) FROM shard ${where}`).pluck();
      const page = db.prepare<unknown[], ShardColumns & { log: string | null }>(
        `SELECT shard.*, (SELECT log FROM attempt WHERE attempt.shard = shard.key ORDER BY attempt DESC LIMIT 1) AS log
         FROM shard ${where} ORDER BY number, key LIMIT ? OFFSET ?`,
      );
      return {
        total: total.get(...values) ?? 0,
        items: page.all(...values, limit, offset).map((row) => ({ ...toShardRow(row), log: row.log })),
      };
    }),
  };
}
