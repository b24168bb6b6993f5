import type { Prediction, Reason } from '../../contract/results.ts';
import { FRAMES_IN_MASK, indexOfLargest, isVirusCall, type ScorePairs } from './chunkCall.ts';

/** A chunk with at least one open frame, as run.db holds it. */
export interface ChunkScores {
  /** 0-based. */
  chunk: number;
  /** Bit masks over F1..R3: frames there are, and those of them without a score. */
  frames: number;
  unscored: number;
  pairs: ScorePairs;
  /** Null where the chunk is scored. */
  reason: Reason | null;
}

/** Our summary of a record. The original tool has none: it calls chunks only. */
export interface SequenceSummary {
  prediction: Prediction;
  reason: Reason;
  /** float32; null without a scored chunk. */
  virusScore: number | null;
  nChunksScored: number;
  nChunksViral: number;
  nFrames: number;
  nFramesScored: number;
  /** 0-based. */
  bestChunk: number | null;
  bestFrame: number | null;
  /** Largest score2 of the best scored chunk and of the second best. */
  bestScore: number | null;
  secondScore: number | null;
}

/**
 * Sums up the chunks of one record, given in order. virus_score is the mean over scored chunks of their largest score2,
 * summed in float64 in the order of the chunks, then rounded to float32. A record is virus if at least half of its scored
 * chunks are called so, and failed if any chunk failed; its scored chunks count all the same.
 */
export class SequenceTally {
  #failure: Reason | null = null;
  #sum = 0;
  #scored = 0;
  #viral = 0;
  #frames = 0;
  #framesScored = 0;
  #bestScore = -1;
  #secondScore = -1;
  #bestChunk: number | null = null;
  #bestFrame: number | null = null;

  add({ chunk, frames, unscored, pairs, reason }: ChunkScores): void {
    this.#frames += FRAMES_IN_MASK[frames]!.length;
    this.#framesScored += pairs.length / 2;
    if (reason !== null) {
      this.#failure ??= reason;
      return;
    }
    const best = indexOfLargest(pairs, 1);
    const score2 = pairs[2 * best + 1]!;
    this.#sum += score2;
    this.#scored++;
    if (isVirusCall(pairs)) this.#viral++;
    if (score2 > this.#bestScore) {
      this.#secondScore = this.#bestScore;
      this.#bestScore = score2;
      this.#bestChunk = chunk;
      this.#bestFrame = FRAMES_IN_MASK[frames & ~unscored]![best]!;
    } else if (score2 > this.#secondScore) {
      this.#secondScore = score2;
    }
  }

  /** `fault` is why prepare found the record can't be scored, null if it can. */
  summary(fault: Reason | null): SequenceSummary {
    return {
      ...this.#outcome(fault),
      virusScore: this.#scored === 0 ? null : Math.fround(this.#sum / this.#scored),
      nChunksScored: this.#scored,
      nChunksViral: this.#viral,
      nFrames: this.#frames,
      nFramesScored: this.#framesScored,
      bestChunk: this.#bestChunk,
      bestFrame: this.#bestFrame,
      bestScore: this.#scored < 1 ? null : this.#bestScore,
      secondScore: this.#scored < 2 ? null : this.#secondScore,
    };
  }

  #outcome(fault: Reason | null): { prediction: Prediction; reason: Reason } {
    if (fault !== null) return { prediction: 'not_scored', reason: fault };
    if (this.#failure !== null) return { prediction: 'failed', reason: this.#failure };
    if (this.#scored === 0) return { prediction: 'not_scored', reason: 'no_open_frame' };
    return { prediction: 2 * this.#viral >= this.#scored ? 'virus' : 'others', reason: 'ok' };
  }
}
