import { FRAME_NAMES, type FrameName } from '../../contract/results.ts';
import type { Prediction, Reason } from '../../contract/results.ts';
import { isSettled } from './estimates/settled.ts';

/** Scores of one chunk: pairs (score1 = others, score2 = virus) of its scored frames, F1 to R3. */
export type ScorePairs = Float32Array;

/** A sequence or chunk is called virus from this score on. */
export const VIRUS_FROM = 0.5;
/** The largest float32 below it. */
const HIGHEST_OTHER = 0.5 - 2 ** -25;

export interface ChunkCall {
  isVirus: boolean;
  /** float32; at least 0.5 exactly where the chunk is called virus. */
  virusScore: number;
  /** Number of the deciding pair. */
  deciding: number;
  /** The largest of each score among the frames, which the call compares. */
  score1: number;
  score2: number;
}

/**
 * The original tool's call of a chunk: virus if the largest score2 is at least the largest score1, so the
 * frame that is most decided for either class decides. The chunk's virus score is the score2 of this frame,
 * as in prediction_results.txt. It is on the call's side of 0.5 if score1 and score2 of the frame add up to
 * 1; if rounding has moved them, it is clamped to that side.
 */
export function callChunk(pairs: ScorePairs): ChunkCall {
  let [others, virus] = [0, 0];
  for (let i = 2; i < pairs.length; i += 2) {
    if (pairs[i]! > pairs[others]!) others = i;
    if (pairs[i + 1]! > pairs[virus + 1]!) virus = i;
  }
  const [score1, score2] = [pairs[others]!, pairs[virus + 1]!];
  const isVirus = score2 >= score1;
  const virusScore = isVirus ? Math.max(VIRUS_FROM, score2) : Math.min(HIGHEST_OTHER, pairs[others + 1]!);
  return { isVirus, virusScore, deciding: (isVirus ? virus : others) / 2, score1, score2 };
}

/** The original tool's call of a frame; a tie is `others`. */
export function isVirusFrame(score1: number, score2: number): boolean {
  return score2 > score1;
}

/** For each frame mask (bit 0 = F1 to bit 5 = R3): numbers of its frames, ascending. */
export const FRAMES_IN_MASK: readonly (readonly number[])[] = Array.from({ length: 64 }, (_, mask) =>
  FRAME_NAMES.map((_, frame) => frame).filter((frame) => mask & (1 << frame)),
);

export function frameName(frame: number): FrameName {
  return FRAME_NAMES[frame]!;
}

/** 0-based, half-open interval of a sequence. */
interface ChunkBounds {
  start: number;
  end: number;
}

/** How many chunks of length c a sequence of L bases is cut into: ceil(L / c). */
export function chunkCount(length: number, chunkLength: number): number {
  return Math.ceil(length / chunkLength);
}

/**
 * The position of chunk k of a sequence. The overlap needed for full chunks is spread evenly; the first
 * `need` starts are each one base further left, and the last chunk is shorter by that.
 */
export function chunkBounds(length: number, chunkLength: number, k: number): ChunkBounds {
  const n = chunkCount(length, chunkLength);
  const excess = n * chunkLength - length;
  const lower = Math.floor(excess / n);
  const need = excess - lower * (n - 1);
  const start = k * chunkLength - Math.min(k, need) * (lower + 1) - Math.max(0, k - need) * lower;
  return { start, end: Math.min(start + chunkLength, length) };
}

/** A chunk with at least one open frame, as stored in run.db. */
export interface ChunkScores {
  /** 0-based. */
  chunk: number;
  /** Bit masks over F1..R3: existing frames, and those of them without a score. */
  frames: number;
  unscored: number;
  pairs: ScorePairs;
  /** Null if the chunk is scored. */
  reason: Reason | null;
}

/** Our summary of a record, which the original tool does not have: it calls only chunks. */
export interface SequenceSummary {
  prediction: Prediction;
  reason: Reason;
  /** float32; null without a scored chunk. */
  virusScore: number | null;
  nChunksScored: number;
  nChunksViral: number;
  /** Bases in scored chunks, and how many of them a chunk called virus was the first to cover. */
  nBasesScored: number;
  nBasesViral: number;
  nFrames: number;
  nFramesScored: number;
  /** 0-based. The scored chunk with the largest virus score, and its deciding frame. */
  bestChunk: number | null;
  bestFrame: number | null;
  /** Virus scores of the best and second-best scored chunk. */
  bestScore: number | null;
  secondScore: number | null;
}

/**
 * Sums up the chunks of one record, given in order. Each scored chunk is weighted by its new bases, which no
 * earlier scored chunk covers, so that overlaps do not count twice. virus_score is the mean of their virus
 * scores with these weights, added up in float64 in the order of the chunks, then rounded to float32. The
 * call follows from the rounded score, and so never contradicts it. A record fails if any chunk failed; its
 * scored chunks are still counted.
 */
export class SequenceTally {
  readonly #length: number;
  readonly #chunkLength: number;
  #failure: Reason | null = null;
  #sum = 0;
  #squaredWeights = 0;
  #chunks = 0;
  #scored = 0;
  #viral = 0;
  #basesScored = 0;
  #basesViral = 0;
  /** The end of the last scored chunk. */
  #covered = 0;
  #frames = 0;
  #framesScored = 0;
  #bestScore = -1;
  #secondScore = -1;
  #bestChunk: number | null = null;
  #bestFrame: number | null = null;

  constructor(length: number, chunkLength: number) {
    this.#length = length;
    this.#chunkLength = chunkLength;
  }

  add({ chunk, frames, unscored, pairs, reason }: ChunkScores): void {
    this.#chunks++;
    this.#frames += FRAMES_IN_MASK[frames]!.length;
    this.#framesScored += pairs.length / 2;
    if (reason !== null) {
      this.#failure ??= reason;
      return;
    }
    const { isVirus, virusScore, deciding } = callChunk(pairs);
    const { start, end } = chunkBounds(this.#length, this.#chunkLength, chunk);
    const newBases = end - Math.max(start, this.#covered);
    this.#covered = end;
    this.#sum += virusScore * newBases;
    this.#squaredWeights += newBases ** 2;
    this.#basesScored += newBases;
    this.#scored++;
    if (isVirus) {
      this.#viral++;
      this.#basesViral += newBases;
    }
    if (virusScore > this.#bestScore) {
      this.#secondScore = this.#bestScore;
      this.#bestScore = virusScore;
      this.#bestChunk = chunk;
      this.#bestFrame = FRAMES_IN_MASK[frames & ~unscored]![deciding]!;
    } else if (virusScore > this.#secondScore) {
      this.#secondScore = virusScore;
    }
  }

  /** `fault` is why prepare found the record can't be scored, null if it can. */
  summary(fault: Reason | null): SequenceSummary {
    const virusScore = this.#scored === 0 ? null : Math.fround(this.#sum / this.#basesScored);
    return {
      ...this.#outcome(fault, virusScore),
      virusScore,
      nChunksScored: this.#scored,
      nChunksViral: this.#viral,
      nBasesScored: this.#basesScored,
      nBasesViral: this.#basesViral,
      nFrames: this.#frames,
      nFramesScored: this.#framesScored,
      bestChunk: this.#bestChunk,
      bestFrame: this.#bestFrame,
      bestScore: this.#scored < 1 ? null : this.#bestScore,
      secondScore: this.#scored < 2 ? null : this.#secondScore,
    };
  }

  /**
   * Whether the call is final, whatever the missing frames will score. Their positions are unknown, so the
   * largest possible numbers of missing chunks and bases are assumed.
   */
  isSettled({ nFrames, nChunks }: { nFrames: number; nChunks: number }): boolean {
    if (this.#failure !== null) return true;
    const missingChunks = Math.min(nChunks - this.#chunks, nFrames - this.#frames);
    return isSettled({
      weight: this.#basesScored,
      squaredWeight: this.#squaredWeights,
      weightedScore: this.#sum,
      missingWeight: Math.min(this.#length - this.#basesScored, missingChunks * this.#chunkLength),
      missingChunks,
    });
  }

  #outcome(fault: Reason | null, virusScore: number | null): { prediction: Prediction; reason: Reason } {
    if (fault !== null) return { prediction: 'not_scored', reason: fault };
    if (this.#failure !== null) return { prediction: 'failed', reason: this.#failure };
    if (virusScore === null) return { prediction: 'not_scored', reason: 'no_open_frame' };
    return { prediction: virusScore >= VIRUS_FROM ? 'virus' : 'others', reason: 'ok' };
  }
}
