import type Database from 'better-sqlite3';
import type { PartFailureCode } from '../../../../contract/problems.ts';
import type { Reason } from '../../../../contract/results.ts';
import { endAttemptsOf, deleteChunksOf, findPart, type PartRow } from './partRows.ts';
import { sealMethods } from './digests.ts';
import { insertChunks, type ChunkRow, chunkSpans, readPartFrames, type ChunkSpan } from './partIntake.ts';
import type { PartFailing, PartSplit } from '../../types.ts';

const REASON_BY_CODE: Partial<Record<PartFailureCode, Reason>> = {
  out_of_memory: 'out_of_memory',
  non_finite: 'non_finite',
};

function reasonOf(code: PartFailureCode): Reason {
  return REASON_BY_CODE[code] ?? 'worker_failure';
}

/** Methods that give up parts, and that retry them. */
export function partFailureMethods(db: Database.Database, folder: string) {
  const markFailed = db.prepare(
    `UPDATE part SET state = 'failed', failure_code = ?, failure_message = ? WHERE key = ?`,
  );
  const markSkipped = db.prepare(`UPDATE part SET state = 'skipped' WHERE key = ?`);
  const markPending = db.prepare(
    `UPDATE part SET state = 'pending', attempts = 0, device = NULL, seconds = NULL, failure_code = NULL,
       failure_message = NULL, rows_sha256 = NULL WHERE key = ?`,
  );
  const release = db.prepare(`UPDATE part SET state = 'pending', device = NULL WHERE key = ?`);
  const givenUp = db.prepare<[], string>(
    `SELECT key FROM part WHERE state IN ('failed', 'skipped') ORDER BY number, key`,
  );

  const { sealPart } = sealMethods(db);

  function failChunks(part: PartRow, reason: Reason): PartFailing {
    const read = readPartFrames(folder, part);
    if (!read.ok) return { outcome: 'part_damaged', message: read.message };
    const rows = chunkSpans(read.frames).map((span): ChunkRow => ({
      span,
      unscored: span.frames,
      fp32: 0,
      scores: null,
      isVirus: null,
      reason,
    }));
    return { outcome: 'failed', chunks: insertChunks(db, part, rows) };
  }

  function failPart(key: string, failure: { code: PartFailureCode; message: string }): PartFailing {
    const part = findPart(db, key);
    if (part?.state !== 'pending' && part?.state !== 'assigned') return { outcome: 'superseded' };
    const failed = failChunks(part, reasonOf(failure.code));
    if (failed.outcome === 'failed') {
      markFailed.run(failure.code, failure.message, key);
      sealPart(key);
    }
    endAttemptsOf(db, key, { outcome: 'failed', endedAt: Date.now(), ...failure });
    if (failed.outcome === 'part_damaged') release.run(key);
    return failed;
  }

  function skipParts(keys: string[]): string[] {
    return keys.filter((key) => {
      const part = findPart(db, key);
      const skips =
        part?.state === 'failed' ||
        (part?.state === 'pending' && failChunks(part, 'not_computed').outcome === 'failed');
      if (!skips) return false;
      markSkipped.run(key);
      sealPart(key);
      return true;
    });
  }

  function retryFailed(keys: string[] | 'all'): string[] {
    const known = givenUp.pluck().all();
    const retried = keys === 'all' ? known : known.filter((key) => keys.includes(key));
    for (const key of retried) {
      const part = findPart(db, key);
      if (part) deleteChunksOf(db, part);
      markPending.run(key);
    }
    return retried;
  }

  return {
    failPart: db.transaction(failPart),
    skipParts: db.transaction(skipParts),
    retryFailed: db.transaction(retryFailed),
  };
}

export function partSplitMethods(db: Database.Database, folder: string) {
  const insertChild = db.prepare(`
    INSERT INTO part (key, number, parent, sha256, frame_begin, frame_end, frames, residues, chunks, first_row,
      last_row, round, state, bisected)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 1)`);
  const markSplit = db.prepare(`UPDATE part SET state = 'split', device = NULL WHERE key = ?`);

  function insert(parent: PartRow, key: string, spans: ChunkSpan[], residueOffsets: Uint32Array): void {
    const [first, last] = [spans[0]!, spans[spans.length - 1]!];
    insertChild.run(
      key,
      parent.number,
      parent.key,
      parent.sha256,
      parent.frameBegin + first.begin,
      parent.frameBegin + last.end,
      last.end - first.begin,
      residueOffsets[last.end]! - residueOffsets[first.begin]!,
      spans.length,
      first.row,
      last.row,
      parent.round,
    );
  }

  function splitPart(key: string): PartSplit {
    const parent = findPart(db, key);
    const children: [string, string] = [`${key}.0`, `${key}.1`];
    if (parent?.state === 'split') return { outcome: 'split', children };
    if (!parent || parent.state === 'done') return { outcome: 'superseded' };
    const read = readPartFrames(folder, parent);
    if (!read.ok) return { outcome: 'part_damaged', message: read.message };
    const spans = chunkSpans(read.frames);
    if (spans.length < 2) return { outcome: 'indivisible' };

    const cut = cutNearestMiddle(spans, parent.frames);
    deleteChunksOf(db, parent);
    insert(parent, children[0], spans.slice(0, cut), read.frames.residueOffsets);
    insert(parent, children[1], spans.slice(cut), read.frames.residueOffsets);
    markSplit.run(key);
    endAttemptsOf(db, key, { outcome: 'failed', endedAt: Date.now() });
    return { outcome: 'split', children };
  }

  return { splitPart: db.transaction(splitPart) };
}

/** Number of chunks before the cut, at least one on either side. */
function cutNearestMiddle(spans: Pick<ChunkSpan, 'begin'>[], frames: number): number {
  let best = 1;
  for (let i = 2; i < spans.length; i++) {
    if (Math.abs(2 * spans[i]!.begin - frames) < Math.abs(2 * spans[best]!.begin - frames)) best = i;
  }
  return best;
}
