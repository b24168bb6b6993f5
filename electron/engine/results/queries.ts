import type Database from 'better-sqlite3';
import {
  predictionSchema,
  type ChunkResult,
  type Prediction,
  type Reason,
  type SequenceResult,
} from '../../contract/results.ts';
import { readPlan } from '../store/runRows.ts';
import { FRAMES_IN_MASK, frameName, indexOfLargest, isVirusCall, largest } from './chunkCall.ts';
import { chunkBounds } from './chunkLayout.ts';
import { scorePairs, scoredFrames } from './recordScan.ts';
import { nameText } from './tableRows.ts';
import type {
  ChunkPage,
  InputResultSummary,
  ScoreHistogram,
  SequencePage,
  SequencePageRequest,
  ThresholdCounts,
} from './types.ts';

export const SEQUENCE_COLUMNS = `
  s.row, r.name, r.header, r.input, r.length, r.n_chunks AS nChunks, s.prediction, s.reason, s.virus_score AS virusScore,
  s.n_chunks_scored AS nChunksScored, s.n_chunks_viral AS nChunksViral, s.n_frames_scored AS nFramesScored,
  s.best_chunk AS bestChunk, s.best_frame AS bestFrame`;

export interface SequenceColumns {
  row: number;
  name: string;
  header: string | null;
  input: number;
  length: number;
  nChunks: number;
  prediction: Prediction;
  reason: Reason | null;
  virusScore: number | null;
  nChunksScored: number;
  nChunksViral: number;
  nFramesScored: number;
  bestChunk: number | null;
  bestFrame: number | null;
}

/** Answers what a user asks of the results. Sorts, filters and pages in SQLite. */
export function resultQueryMethods(db: Database.Database) {
  const chunkLength = readPlan(db).chunkLength;
  const oneSequence = db.prepare<[number], SequenceColumns>(
    `SELECT ${SEQUENCE_COLUMNS} FROM sequence s JOIN record r ON r.row = s.row WHERE s.row = ?`,
  );
  return {
    pageSequences: db.transaction((request: SequencePageRequest) => pageSequences(db, chunkLength, request)),
    sequence: (row: number): SequenceResult | null => {
      const found = oneSequence.get(row);
      return found ? toSequence(found, chunkLength) : null;
    },
    chunksOf: db.transaction((row: number, offset: number, limit: number) =>
      chunksOf(db, chunkLength, row, offset, limit),
    ),
    scoreHistogram: db.transaction((bins: number) => scoreHistogram(db, bins)),
    inputSummaries: (): InputResultSummary[] => inputSummaries(db),
    thresholdCounts: (minVirusScore: number): ThresholdCounts => thresholdCounts(db, minVirusScore),
  };
}

const ORDER_COLUMN = {
  row: 's.row',
  virusScore: 's.virus_score',
  length: 'r.length',
  name: 'r.name',
} as const;

function pageSequences(
  db: Database.Database,
  chunkLength: number,
  request: SequencePageRequest,
): SequencePage {
  const { conditions, values } = filterOf(request);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const direction = request.descending ? 'DESC' : 'ASC';
  // Without a score they come last, whichever way the rest is sorted.
  const order = `${ORDER_COLUMN[request.sort]} ${direction}${request.sort === 'virusScore' ? ' NULLS LAST' : ''}, s.row`;
  const from = `FROM sequence s JOIN record r ON r.row = s.row ${where}`;
  const page = db.prepare<unknown[], SequenceColumns>(
    `SELECT ${SEQUENCE_COLUMNS} ${from} ORDER BY ${order} LIMIT ? OFFSET ?`,
  );
  const total = db.prepare<unknown[], number>(`SELECT count(*) ${from}`).pluck();
  return {
    sequences: page.all(...values, request.limit, request.offset).map((row) => toSequence(row, chunkLength)),
    total: total.get(...values) ?? 0,
  };
}

function filterOf(request: SequencePageRequest): { conditions: string[]; values: (string | number)[] } {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, value: string | number | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('s.prediction = ?', request.prediction);
  add('r.input = ?', request.input);
  add('s.virus_score >= ?', request.minVirusScore);
  add('r.length >= ?', request.minLength);
  add(
    `r.name LIKE ? ESCAPE '\\'`,
    request.nameContains && `%${request.nameContains.replaceAll(/[\\%_]/g, '\\$&')}%`,
  );
  return { conditions, values };
}

export function toSequence(row: SequenceColumns, chunkLength: number): SequenceResult {
  const { name, header, bestChunk, bestFrame, reason, ...rest } = row;
  const best = bestChunk === null ? null : chunkBounds(row.length, chunkLength, bestChunk);
  return {
    ...rest,
    seqName: nameText(name),
    header: header ?? name,
    reason: reason ?? 'ok',
    viralFraction: row.nChunksScored === 0 ? null : row.nChunksViral / row.nChunksScored,
    bestChunkStart: best && best.start + 1,
    bestChunkEnd: best && best.end,
    bestFrame: bestFrame === null ? null : frameName(bestFrame),
  };
}

interface ChunkColumns {
  chunk: number;
  frames: number;
  unscored: number;
  scores: Buffer | null;
  reason: Reason | null;
}

function chunksOf(
  db: Database.Database,
  chunkLength: number,
  row: number,
  offset: number,
  limit: number,
): ChunkPage {
  const record = db
    .prepare<[number], { length: number; total: number }>(
      'SELECT length, n_chunks AS total FROM record WHERE row = ?',
    )
    .get(row);
  if (!record) return { chunks: [], total: 0 };
  const stored = db
    .prepare<[number, number, number], ChunkColumns>(
      'SELECT chunk, frames, unscored, scores, reason FROM chunk WHERE row = ? AND chunk BETWEEN ? AND ?',
    )
    .all(row, offset, offset + limit - 1);
  const byNumber = new Map(stored.map((chunk) => [chunk.chunk, chunk]));
  const chunks: ChunkResult[] = [];
  for (let k = offset; k < Math.min(offset + limit, record.total); k++) {
    const { start, end } = chunkBounds(record.length, chunkLength, k);
    chunks.push({ chunk: k + 1, start: start + 1, end, ...chunkScores(byNumber.get(k)) });
  }
  return { chunks, total: record.total };
}

function chunkScores(chunk: ChunkColumns | undefined): Omit<ChunkResult, 'chunk' | 'start' | 'end'> {
  const none = { frames: [], bestFrame: null, score1: null, score2: null, isVirus: null };
  if (!chunk) return { ...none, reason: 'no_open_frame' };
  const pairs = scorePairs(chunk.scores);
  const numbers = scoredFrames(chunk);
  const frames = numbers.map((frame, i) => ({
    frame: frameName(frame),
    score1: pairs[2 * i]!,
    score2: pairs[2 * i + 1]!,
  }));
  if (chunk.reason !== null) return { ...none, frames, reason: chunk.reason };
  return {
    frames,
    bestFrame: frameName(FRAMES_IN_MASK[chunk.frames & ~chunk.unscored]![indexOfLargest(pairs, 1)]!),
    score1: largest(pairs, 0),
    score2: largest(pairs, 1),
    isVirus: isVirusCall(pairs),
    reason: 'ok',
  };
}

function scoreHistogram(db: Database.Database, bins: number): ScoreHistogram {
  const counts = new Array<number>(bins).fill(0);
  let notScored = 0;
  const rows = db
    .prepare<[number, number], { bin: number | null; n: number }>(
      'SELECT min(CAST(virus_score * ? AS INTEGER), ? - 1) AS bin, count(*) AS n FROM sequence GROUP BY bin',
    )
    .all(bins, bins);
  for (const { bin, n } of rows) {
    if (bin === null) notScored += n;
    else counts[bin]! += n;
  }
  return { counts, scored: counts.reduce((sum, n) => sum + n, 0), notScored };
}

function inputSummaries(db: Database.Database): InputResultSummary[] {
  const summaries = new Map<number, InputResultSummary>();
  const rows = db
    .prepare<[], { input: number; prediction: Prediction; n: number }>(
      `SELECT r.input, s.prediction, count(*) AS n FROM sequence s JOIN record r ON r.row = s.row
       GROUP BY r.input, s.prediction ORDER BY r.input`,
    )
    .all();
  for (const { input, prediction, n } of rows) {
    const summary = summaries.get(input) ?? { input, sequences: 0, byPrediction: noPredictions() };
    summary.byPrediction[prediction] = n;
    summary.sequences += n;
    summaries.set(input, summary);
  }
  return [...summaries.values()];
}

function noPredictions(): Record<Prediction, number> {
  return Object.fromEntries(predictionSchema.options.map((name) => [name, 0])) as Record<Prediction, number>;
}

function thresholdCounts(db: Database.Database, minVirusScore: number): ThresholdCounts {
  const counts = db
    .prepare<[number], { total: number; scored: number; atOrAbove: number }>(
      `SELECT count(*) AS total, count(virus_score) AS scored, coalesce(sum(virus_score >= ?), 0) AS atOrAbove FROM sequence`,
    )
    .get(minVirusScore);
  const { total, scored, atOrAbove } = counts ?? { total: 0, scored: 0, atOrAbove: 0 };
  return { atOrAbove, below: scored - atOrAbove, notScored: total - scored };
}
