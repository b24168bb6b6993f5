import type Database from 'better-sqlite3';
import { endAttemptsOf } from './attempts.ts';
import { chunkSpans, readPartFrames, type ChunkSpan } from '../files/partFile.ts';
import { deleteChunksOf, findPart, type PartRow } from './partRows.ts';
import type { PartSplit } from '../../types.ts';

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
