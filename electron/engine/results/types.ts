import type { SequenceResult } from '../../contract/columns.ts';
import type { AppFailure } from '../../contract/errors.ts';
import type { ScorePairs } from './sequenceTally.ts';
import type { ChunkResult, FrameName, Prediction, Reason } from '../../contract/results.ts';

export interface InputResultSummary {
  input: number;
  sequences: number;
  bases: number;
  byPrediction: Record<Prediction, number>;
}

/**
 * A chunk with the basis of its call: the largest scores among its frames, the deciding frame, and its virus
 * score.
 */
export interface ScoredChunk {
  /** 0-based. */
  chunk: number;
  frame: FrameName;
  score1: number;
  score2: number;
  virusScore: number;
  isVirus: boolean;
}

export interface ScoredFrames {
  /** 0-based. */
  chunk: number;
  /** Numbers of its scored frames, ascending, and their score pairs. */
  frames: readonly number[];
  pairs: ScorePairs;
}

/** Rows of an unfinished run that were derived since the last call. */
export interface ProvisionalChanges {
  /** Earlier rows are invalid; also true at the beginning. */
  restarted: boolean;
  rows: readonly SequenceResult[];
  /** Numbers of those rows that were already reported when less of them was computed. */
  replaced: readonly number[];
  /** Whether everything that can be derived is derived. */
  done: boolean;
  /** What is damaged is left out, so these rows are not all. */
  damage: AppFailure | null;
}

export interface ChunkPage {
  chunks: ChunkResult[];
  total: number;
}

export interface ResultCounts {
  records: number;
  chunks: number;
  chunksScored: number;
  chunksViral: number;
  framesScored: number;
  byPrediction: Record<Prediction, number>;
  byReason: Record<Reason, number>;
  failedParts: number;
}

export interface TablesPrepared<Counts = ResultCounts> {
  counts: Counts;
  /** By file name, in the order they were written. */
  files: Record<string, { bytes: number; sha256: string }>;
}

export interface TablesWritten extends TablesPrepared {
  /** Seconds from the first read of the stored data until all tables were written. */
  seconds: number;
}

/** What run.json contains besides run.db's facts. */
export interface RunJsonFacts {
  appVersion: string;
  backendVersion: string | null;
  pythonVersion: string | null;
  torchVersion: string | null;
  platform: string;
  /** Device time for each input. */
  inputSeconds: readonly number[];
  /** The largest measured score difference of bounded parts in this precision. */
  tolerance: number;
}

/** A reading frame in a file of a part. */
export interface FrameOfPart {
  /** Row of the sequence. */
  row: number;
  name: string;
  input: number;
  length: number;
  chunk: number;
  frame: FrameName;
}
