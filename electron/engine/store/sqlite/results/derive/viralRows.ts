import type Database from 'better-sqlite3';
import type { Reason } from '../../../../../contract/results.ts';
import { VIRUS_FROM } from '../../../../results/chunkCall.ts';
import { chunkCount } from '../../../../results/chunkLayout.ts';
import { SequenceTally } from '../../../../results/sequenceTally.ts';
import { readPlan } from '../../runRows.ts';
import { damaged } from '../../storeErrors.ts';
import { checkChunk, scorePairs, SCORES_READ } from './recordScan.ts';

interface ChunkColumns {
  chunk: number;
  frames: number;
  unscored: number;
  scores: Buffer | null;
  reason: Reason | null;
}

/**
 * Finds viral sequences without summing the frames of every chunk: if all scored chunks of a sequence have
 * the same call, the sequence has it too (a weighted mean of scores of at least 0.5 is at least 0.5, and one
 * of scores below 0.5 is below). Only sequences whose chunks disagree are summed up.
 */
export function viralRowMethods(db: Database.Database) {
  const { chunkLength } = readPlan(db);
  const CALLED = `chunk JOIN record ON record.row = chunk.row
     WHERE record.reason IS NULL GROUP BY chunk.row HAVING count(*) = count(is_virus)`;
  const withViralChunks = db.prepare<[], { row: number; isDivided: 0 | 1 }>(
    `SELECT chunk.row, sum(is_virus) < count(*) AS isDivided FROM ${CALLED} AND sum(is_virus) > 0 ORDER BY chunk.row`,
  );
  const called = db.prepare<[], number>(`SELECT count(*) FROM (SELECT chunk.row FROM ${CALLED})`).pluck();
  const recordOf = db.prepare<[number], { length: number; nChunks: number }>(
    'SELECT length, n_chunks AS nChunks FROM record WHERE row = ?',
  );
  const chunksOf = db.prepare<[number], ChunkColumns>(
    `SELECT chunk, frames, unscored, ${SCORES_READ} AS scores, reason FROM chunk WHERE row = ? ORDER BY chunk`,
  );

  function isViral(row: number): boolean {
    const { length, nChunks } = recordOf.get(row) ?? { length: 0, nChunks: 0 };
    const tally = new SequenceTally(length, chunkLength);
    for (const { scores, ...chunk } of chunksOf.all(row)) {
      checkChunk(row, { ...chunk, scoreBytes: scores?.length ?? 0 });
      if (chunk.chunk >= Math.min(nChunks, chunkCount(length, chunkLength)))
        throw damaged(`run.db holds too many chunks of row ${row}.`);
      tally.add({ ...chunk, pairs: scorePairs(scores) });
    }
    return (tally.summary(null).virusScore ?? 0) >= VIRUS_FROM;
  }

  /** Rows of the sequences called virus, ascending. */
  const viralRows = (): Uint32Array =>
    Uint32Array.from(
      withViralChunks.all().flatMap(({ row, isDivided }) => (isDivided && !isViral(row) ? [] : [row])),
    );
  return {
    viralRows,
    /** Counts of the calls in a run whose parts are all settled. */
    callCounts: (): { virus: number; others: number } => {
      const virus = viralRows().length;
      return { virus, others: (called.get() ?? 0) - virus };
    },
  };
}
