import type Database from 'better-sqlite3';
import type { ShardFailureCode } from '../../contract/protocol/index.ts';
import type { Reason } from '../../contract/results.ts';
import { endAttemptsOf } from './attempts.ts';
import { chunkSpans, readShardFrames } from './shardFile.ts';
import { insertChunks, type ChunkRow } from './shardIntake.ts';
import { deleteChunksOf, findShard, type ShardRow } from './shardRows.ts';
import type { ShardFailing } from './types.ts';

const REASON_BY_CODE: Partial<Record<ShardFailureCode, Reason>> = {
  out_of_memory: 'out_of_memory',
  non_finite: 'non_finite',
};

export function reasonOf(code: ShardFailureCode): Reason {
  return REASON_BY_CODE[code] ?? 'worker_failure';
}

/** Giving up on shards, and taking them up again. */
export function shardFailureMethods(db: Database.Database, folder: string) {
  const markFailed = db.prepare(
    `UPDATE shard SET state = 'failed', failure_code = ?, failure_message = ? WHERE key = ?`,
  );
  const markSkipped = db.prepare(`UPDATE shard SET state = 'skipped' WHERE key = ?`);
  const markPending = db.prepare(
    `UPDATE shard SET state = 'pending', attempts = 0, device = NULL, seconds = NULL, failure_code = NULL,
       failure_message = NULL WHERE key = ?`,
  );
  const release = db.prepare(`UPDATE shard SET state = 'pending', device = NULL WHERE key = ?`);
  const givenUp = db.prepare<[], string>(
    `SELECT key FROM shard WHERE state IN ('failed', 'skipped') ORDER BY number, key`,
  );

  function failChunks(shard: ShardRow, reason: Reason): ShardFailing {
    const read = readShardFrames(folder, shard);
    if (!read.ok) return { outcome: 'shard_damaged', message: read.message };
    const rows = chunkSpans(read.frames).map((span): ChunkRow => ({
      span,
      unscored: span.frames,
      fp32: 0,
      scores: null,
      isVirus: null,
      reason,
    }));
    return { outcome: 'failed', chunks: insertChunks(db, shard, rows) };
  }

  function failShard(key: string, failure: { code: ShardFailureCode; message: string }): ShardFailing {
    const shard = findShard(db, key);
    if (shard?.state !== 'pending' && shard?.state !== 'assigned') return { outcome: 'superseded' };
    const failed = failChunks(shard, reasonOf(failure.code));
    if (failed.outcome === 'failed') markFailed.run(failure.code, failure.message, key);
    endAttemptsOf(db, key, { outcome: 'failed', endedAt: Date.now(), ...failure });
    if (failed.outcome === 'shard_damaged') release.run(key);
    return failed;
  }

  function skipShards(keys: string[]): string[] {
    return keys.filter((key) => {
      const shard = findShard(db, key);
      const skips =
        shard?.state === 'failed' ||
        (shard?.state === 'pending' && failChunks(shard, 'worker_failure').outcome === 'failed');
      if (skips) markSkipped.run(key);
      return skips;
    });
  }

  function retryFailed(keys: string[] | 'all'): string[] {
    const known = givenUp.pluck().all();
    const retried = keys === 'all' ? known : known.filter((key) => keys.includes(key));
    for (const key of retried) {
      const shard = findShard(db, key);
      if (shard) deleteChunksOf(db, shard);
      markPending.run(key);
    }
    return retried;
  }

  return {
    failShard: db.transaction(failShard),
    skipShards: db.transaction(skipShards),
    retryFailed: db.transaction(retryFailed),
  };
}
