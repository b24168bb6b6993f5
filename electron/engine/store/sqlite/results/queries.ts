import type { SequenceResult } from '../../../../contract/columns.ts';
import type Database from 'better-sqlite3';
import type { Cut } from '../../../../contract/plan.ts';
import { NOT_JUDGED, strandFrame, type ChunkResult, type Reason } from '../../../../contract/results.ts';
import { RIBBON_LOOKED_AGAIN } from '../../../../contract/ribbon.ts';
import type { CheckedRows } from '../parts/checkedRows.ts';
import { readPlan } from '../runRows.ts';
import {
  callChunk,
  framesIn,
  frameName,
  VIRUS_FROM,
  chunkBounds,
  judgedBy,
} from '../../../results/sequenceTally.ts';
import {
  checkChunk,
  NOT_OF_SECOND_LOOK,
  scorePairs,
  scoredFrames,
  SCORES_READ,
  summingUp,
  type CountedRecord,
} from './derive/recordScan.ts';
import { writeNumbers } from '../../../system/runFiles.ts';
import type { ChunkPage, FrameOfPart, ScoredChunk, ScoredFrames } from '../../../results/types.ts';

/** Answers queries about results that need only run.db: chunks, reading frames, and rows by name. */
export function resultQueryMethods(db: Database.Database, checked: CheckedRows) {
  const plan = readPlan(db);
  const scoredChunks = db.prepare<[number], ChunkColumns>(
    `SELECT chunk, frames, unscored, ${SCORES_READ} AS scores, reason FROM chunk WHERE row = ? AND reason IS NULL ORDER BY chunk`,
  );
  const ownFrames = db.prepare<[number], ChunkColumns>(
    `SELECT chunk, frames, unscored, ${SCORES_READ} AS scores, reason FROM chunk
     WHERE row = ? AND reason IS NULL AND ${NOT_OF_SECOND_LOOK} ORDER BY chunk`,
  );
  const someChunks = db.prepare<[number, number], ChunkColumns>(
    `SELECT chunk, frames, unscored, ${SCORES_READ} AS scores, reason FROM chunk
     WHERE row = ? AND chunk % ? = 0 AND reason IS NULL ORDER BY chunk`,
  );
  const partFrames = db.prepare<[string], Omit<FrameOfPart, 'frame'> & { frames: number }>(
    // Selected by the range of its rows, as chunk rows have no index by part.
    `SELECT c.row, r.name, r.input, r.length, c.chunk, c.frames FROM part p
     JOIN chunk c ON c.row BETWEEN p.first_row AND p.last_row AND c.part = p.id JOIN record r ON r.row = c.row
     WHERE p.key = ? ORDER BY c.row, c.chunk`,
  );
  const viralRows = viralRowsOf(db);
  const lastRow = db.prepare<[], number | null>('SELECT max(row) FROM record').pluck();
  const partId = db.prepare<[string], number>('SELECT id FROM part WHERE key = ?').pluck();
  return {
    /**
     * Writes the numbers of the rows called virus, ascending, as little-endian U32; returns how many there
     * are.
     */
    writeViralRows: (path: string): number => writeNumbers(viralRows(), path),
    rowsNamed: (names: readonly string[]): Map<string, number[]> => {
      checked.records(0, lastRow.get() ?? -1);
      return rowsNamed(db, names);
    },
    /** The scored chunks of each of the given rows, in order along the sequence. */
    scoredChunksOf: (rows: Uint32Array): ScoredChunk[][] => {
      checked.chunksOf(rows);
      return Array.from(rows, (row) => scoredChunks.all(row).map((chunk) => toScoredChunk(row, chunk)));
    },
    ribbonsOf: (sequences: readonly Pick<SequenceResult, 'row' | 'nChunks'>[]): number[][] => {
      checked.chunksOf(sequences.map(({ row }) => row));
      return sequences.map(({ row, nChunks }) => {
        const every = Math.ceil(nChunks / RIBBON_CHUNKS);
        const chunks = nChunks === 0 ? [] : someChunks.all(row, every);
        return ribbonOf(
          nChunks,
          chunks.map((chunk) => toScoredChunk(row, chunk)),
        );
      });
    },
    /** Without those of a second look, which the original tool does not have. */
    scoredFramesOf: (rows: Uint32Array): ScoredFrames[][] => {
      checked.chunksOf(rows);
      return Array.from(rows, (row) => ownFrames.all(row).map((chunk) => toScoredFrames(row, chunk)));
    },
    /** The reading frames of a finished part, in the order of its files. */
    framesOf: (part: string): FrameOfPart[] => {
      const { firstRow, lastRow } = checked.part(partId.get(part) ?? -1);
      checked.records(firstRow, lastRow);
      return partFrames.all(part).flatMap(({ frames, name, ...chunk }) =>
        framesIn(frames).map((frame) => ({
          ...chunk,
          name,
          frame: frameName(frame),
        })),
      );
    },
    chunksOf: db.transaction((row: number, offset: number, limit: number) => {
      checked.records(row, row);
      checked.chunksOf([row]);
      return chunksOf(db, plan, row, offset, limit);
    }),
  };
}

/** Steps of a ribbon: as many as the eye can distinguish in a table cell. */
const RIBBON_STEPS = 45;
/** Chunks of one sequence that are read for its ribbon; for a longer one every second, third, and so on. */
const RIBBON_CHUNKS = 4 * RIBBON_STEPS;

function ribbonOf(nChunks: number, chunks: readonly ScoredChunk[]): number[] {
  const steps = Math.min(nChunks, RIBBON_STEPS);
  const ribbon = new Array<number>(steps).fill(0);
  /**
   * The distance from 0.5 of the score that each step shows: among several chunks it shows the most decided
   * one.
   */
  const decided = new Array<number>(steps).fill(-1);
  for (const { chunk, frame, virusScore, isVirus } of chunks) {
    const step = Math.floor((chunk * steps) / nChunks);
    const distance = Math.abs(virusScore - VIRUS_FROM);
    if (distance <= decided[step]!) continue;
    const again = strandFrame(frame) === frame ? 0 : RIBBON_LOOKED_AGAIN;
    const percent = again + Math.max(1, Math.round(100 * virusScore));
    decided[step] = distance;
    ribbon[step] = isVirus ? percent : -percent;
  }
  return chunks.length === 0 ? [] : ribbon;
}

interface ChunkColumns {
  chunk: number;
  frames: number;
  unscored: number;
  scores: Buffer | null;
  reason: Reason | null;
}

function chunksOf(db: Database.Database, cut: Cut, row: number, offset: number, limit: number): ChunkPage {
  const record = db
    .prepare<[number], { length: number; total: number }>(
      'SELECT length, n_chunks AS total FROM record WHERE row = ?',
    )
    .get(row);
  if (!record) return { chunks: [], total: 0 };
  const stored = db
    .prepare<[number, number, number], ChunkColumns>(
      `SELECT chunk, frames, unscored, ${SCORES_READ} AS scores, reason FROM chunk WHERE row = ? AND chunk BETWEEN ? AND ?`,
    )
    .all(row, offset, offset + limit - 1);
  for (const chunk of stored) checkChunk(row, { ...chunk, scoreBytes: chunk.scores?.length ?? 0 });
  const byNumber = new Map(stored.map((chunk) => [chunk.chunk, chunk]));
  const chunks: ChunkResult[] = [];
  for (let k = offset; k < Math.min(offset + limit, record.total); k++) {
    const { start, end } = chunkBounds(record.length, cut.chunkLength, k);
    chunks.push({ chunk: k + 1, start: start + 1, end, ...chunkScores(cut, byNumber.get(k)) });
  }
  return { chunks, total: record.total };
}

function toScoredChunk(row: number, chunk: ChunkColumns): ScoredChunk {
  checkChunk(row, { ...chunk, scoreBytes: chunk.scores?.length ?? 0 });
  const { deciding, ...call } = callChunk(scorePairs(chunk.scores));
  return {
    chunk: chunk.chunk,
    frame: frameName(scoredFrames(chunk)[deciding]!),
    ...call,
  };
}

function toScoredFrames(row: number, chunk: ChunkColumns): ScoredFrames {
  checkChunk(row, { ...chunk, scoreBytes: chunk.scores?.length ?? 0 });
  // A copy, because a view would transfer its whole buffer to another thread.
  return { chunk: chunk.chunk, frames: scoredFrames(chunk), pairs: scorePairs(chunk.scores).slice() };
}

const NAMES_PER_READ = 16_384;

function rowsNamed(db: Database.Database, names: readonly string[]): Map<string, number[]> {
  const wanted = new Set(names);
  const found = new Map<string, number[]>();
  const page = db
    .prepare<[number], [number, string]>(
      `SELECT row, name FROM record WHERE row > ? ORDER BY row LIMIT ${NAMES_PER_READ}`,
    )
    .raw();
  for (let last = -1; ;) {
    const rows = page.all(last);
    for (const [row, name] of rows) {
      if (!wanted.has(name)) continue;
      const before = found.get(name);
      if (before) before.push(row);
      else found.set(name, [row]);
    }
    if (rows.length < NAMES_PER_READ) return found;
    last = rows.at(-1)![0];
  }
}

function chunkScores(
  cut: Cut,
  chunk: ChunkColumns | undefined,
): Omit<ChunkResult, 'chunk' | 'start' | 'end'> {
  if (!chunk) return { ...NOT_JUDGED, reason: 'no_open_frame' };
  const pairs = scorePairs(chunk.scores);
  const numbers = scoredFrames(chunk);
  const frames = numbers.map((frame, i) => ({
    frame: frameName(frame),
    score1: pairs[2 * i]!,
    score2: pairs[2 * i + 1]!,
  }));
  if (chunk.reason !== null) return { ...NOT_JUDGED, frames, reason: chunk.reason };
  const { deciding, ...call } = callChunk(pairs);
  return {
    frames,
    bestFrame: frameName(numbers[deciding]!),
    ...call,
    judgedBy: judgedBy(cut, chunk.frames),
    reason: 'ok',
  };
}

/**
 * Finds viral sequences without summing the frames of every chunk: if all scored chunks of a sequence have
 * the same call, the sequence has it too (a weighted mean of scores of at least 0.5 is at least 0.5, and one
 * of scores below 0.5 is below). Only sequences whose chunks disagree are summed up.
 */
function viralRowsOf(db: Database.Database): () => Generator<number> {
  const withViralChunks = db.prepare<[], { row: number; isDivided: 0 | 1 }>(
    `SELECT chunk.row, sum(is_virus) < count(*) AS isDivided FROM chunk JOIN record ON record.row = chunk.row
     WHERE record.reason IS NULL GROUP BY chunk.row HAVING count(*) = count(is_virus) AND sum(is_virus) > 0 ORDER BY chunk.row`,
  );
  const recordOf = db.prepare<[number], CountedRecord>(
    'SELECT row, length, n_chunks AS nChunks, n_frames AS nFrames, NULL AS fault FROM record WHERE row = ?',
  );
  const summaryOf = summingUp(db);

  const isViral = (row: number): boolean => (summaryOf(recordOf.get(row)!).virusScore ?? 0) >= VIRUS_FROM;

  /** Rows of the sequences called virus, ascending, of which there may be millions. */
  function* viralRows(): Generator<number> {
    for (const { row, isDivided } of withViralChunks.iterate()) if (!isDivided || isViral(row)) yield row;
  }
  return viralRows;
}
