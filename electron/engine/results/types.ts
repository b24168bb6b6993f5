import type { ScorePairs } from './chunkCall.ts';
import type { ChunkResult, FrameName, Prediction, Reason } from '../../contract/results.ts';

export interface InputResultSummary {
  input: number;
  sequences: number;
  bases: number;
  byPrediction: Record<Prediction, number>;
}

/** A chunk with what its call rests on: the largest scores among its frames, the frame that decides, and its virus score. */
export interface ScoredChunk {
  /** 0-based. */
  chunk: number;
  frame: FrameName;
  score1: number;
  score2: number;
  virusScore: number;
  isVirus: boolean;
}

/** A scored chunk with the scores of its frames. */
export interface ScoredFrames {
  /** 0-based. */
  chunk: number;
  /** Numbers of its scored frames, ascending, and the pairs that belong to them. */
  frames: readonly number[];
  pairs: ScorePairs;
}

/** Sequences called virus and others whose length lies from one edge to below the next. */
export interface LengthShare {
  from: number;
  to: number | null;
  virus: number;
  others: number;
}

/** Sequences by length and score: `[length bin][score bin]`, by call. Length bins are those of `edges`, score bins of width 1/n. */
export interface LengthScores {
  edges: readonly number[];
  virus: number[][];
  others: number[][];
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
  /** From the first look at what is stored until all tables were there. */
  seconds: number;
}

/** What run.json says beside what run.db knows. */
export interface RunJsonFacts {
  appVersion: string;
  backendVersion: string | null;
  pythonVersion: string | null;
  torchVersion: string | null;
  platform: string;
  /** Time that devices took for each input. */
  inputSeconds: readonly number[];
  /** Largest difference of a score that bounded parts may have in this precision, as measured. */
  tolerance: number;
}

/** A reading frame in a file of a part. */
export interface FrameOfPart {
  /** Of the sequence. */
  row: number;
  name: string;
  input: number;
  length: number;
  chunk: number;
  frame: FrameName;
}
