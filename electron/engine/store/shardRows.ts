import type Database from 'better-sqlite3';
import type { ShardFailureCode } from '../../contract/protocol/index.ts';
import type { ShardState } from '../../contract/runState.ts';
import type { StoredShard } from './types.ts';

/** A shard with its number in the database, under which its chunk rows stand. */
export interface ShardRow extends StoredShard {
  id: number;
  /** From prepare; bisected parts share it. */
  number: number;
}

export interface ShardColumns {
  id: number;
  key: string;
  number: number;
  parent: string | null;
  path: string;
  sha256: string;
  frame_begin: number;
  frame_end: number;
  frames: number;
  residues: number;
  chunks: number;
  first_row: number;
  last_row: number;
  state: ShardState;
  attempts: number;
  device: string | null;
  seconds: number | null;
  recomputed_fp32: number;
  batch_halvings: number;
  bisected: number;
  failure_code: ShardFailureCode | null;
  failure_message: string | null;
}

export function findShard(db: Database.Database, key: string): ShardRow | null {
  const row = db.prepare<[string], ShardColumns>('SELECT * FROM shard WHERE key = ?').get(key);
  return row ? toShardRow(row) : null;
}

export function shardReadMethods(db: Database.Database) {
  const byState = db.prepare<[ShardState, number], ShardColumns>(
    'SELECT * FROM shard WHERE state = ? ORDER BY number, key LIMIT ?',
  );
  return {
    pendingShards: (limit?: number): StoredShard[] => byState.all('pending', limit ?? -1).map(toShardRow),
    shardsIn: (state: ShardState): StoredShard[] => byState.all(state, -1).map(toShardRow),
    shard: (key: string): StoredShard | null => findShard(db, key),
  };
}

/** Deletes the chunk rows that came from a shard. By the range of its rows, as chunk rows have no index by shard. */
export function deleteChunksOf(db: Database.Database, shard: ShardRow): void {
  db.prepare('DELETE FROM chunk WHERE row BETWEEN ? AND ? AND shard = ?').run(
    shard.firstRow,
    shard.lastRow,
    shard.id,
  );
}

export function toShardRow(row: ShardColumns): ShardRow {
  return {
    id: row.id,
    key: row.key,
    number: row.number,
    parent: row.parent,
    path: row.path,
    sha256: row.sha256,
    frameBegin: row.frame_begin,
    frameEnd: row.frame_end,
    frames: row.frames,
    residues: row.residues,
    chunks: row.chunks,
    firstRow: row.first_row,
    lastRow: row.last_row,
    state: row.state,
    attempts: row.attempts,
    device: row.device,
    seconds: row.seconds,
    failure:
      row.failure_code === null ? null : { code: row.failure_code, message: row.failure_message ?? '' },
    recomputedFp32: row.recomputed_fp32,
    batchHalvings: row.batch_halvings,
    bisected: row.bisected === 1,
  };
}
