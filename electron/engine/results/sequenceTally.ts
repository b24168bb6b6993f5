import type { Cut } from '../../contract/plan.ts';
import { ALL_FRAME_NAMES, FRAME_NAMES, type FrameName } from '../../contract/results.ts';
import type { Prediction, Reason } from '../../contract/results.ts';

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
  /** Its virus score if it had the other call. */
  turnedScore: number;
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
  const scores = [Math.max(VIRUS_FROM, score2), Math.min(HIGHEST_OTHER, pairs[others + 1]!)] as const;
  const [virusScore, turnedScore] = isVirus ? scores : [scores[1], scores[0]];
  return { isVirus, virusScore, turnedScore, deciding: (isVirus ? virus : others) / 2, score1, score2 };
}

/** The original tool's call of a frame; a tie is `others`. */
export function isVirusFrame(score1: number, score2: number): boolean {
  return score2 > score1;
}

const FRAMES_OF_CHUNK = FRAME_NAMES.length;
/** Masks of the frames that a chunk may have: its own, or those of its shorter chunks. */
const OWN_FRAMES = 2 ** FRAMES_OF_CHUNK - 1;
const SHORTER_FRAMES = [OWN_FRAMES << FRAMES_OF_CHUNK, OWN_FRAMES << (2 * FRAMES_OF_CHUNK)] as const;

const known: (readonly number[])[] = [];

/** Numbers of the frames in a mask (bit 0 = F1 to bit 17 = R3b), ascending. */
export function framesIn(mask: number): readonly number[] {
  return (known[mask] ??= ALL_FRAME_NAMES.map((_, frame) => frame).filter((frame) => mask & (1 << frame)));
}

/** Whether a chunk can have these frames. */
export function isFrameMask(mask: number): boolean {
  return mask > 0 && mask < 2 ** ALL_FRAME_NAMES.length && (mask <= OWN_FRAMES || (mask & OWN_FRAMES) === 0);
}

/** Whether these are frames of shorter chunks, which only a second look judges. */
export function isSecondLook(mask: number): boolean {
  return mask > OWN_FRAMES;
}

/** The length of the chunks whose model judges these frames. */
export function judgedBy({ chunkLength, secondLook }: Cut, mask: number): number {
  return isSecondLook(mask) && secondLook ? secondLook.chunkLength : chunkLength;
}

export function frameName(frame: number): FrameName {
  return ALL_FRAME_NAMES[frame]!;
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

/** The position of shorter chunk 0 or 1 of chunk k, which is cut within its bounds by the same rule. */
function shorterBounds(
  length: number,
  { chunkLength, secondLook }: Cut,
  k: number,
  part: number,
): ChunkBounds {
  const whole = chunkBounds(length, chunkLength, k);
  const { start, end } = chunkBounds(whole.end - whole.start, secondLook?.chunkLength ?? chunkLength, part);
  return { start: whole.start + start, end: whole.start + end };
}

/** The position of the chunk, or the shorter chunk, in which a frame of chunk k lies. */
export function frameBounds(length: number, cut: Cut, k: number, frame: FrameName): ChunkBounds {
  const part = ['a', 'b'].indexOf(frame.charAt(2));
  return part < 0 ? chunkBounds(length, cut.chunkLength, k) : shorterBounds(length, cut, k, part);
}

/** What of chunk k was judged: all of it, or those of its shorter chunks that have an open frame. */
export function judgedBounds(length: number, cut: Cut, k: number, mask: number): ChunkBounds[] {
  if (!isSecondLook(mask)) return [chunkBounds(length, cut.chunkLength, k)];
  return [0, 1]
    .filter((part) => mask & SHORTER_FRAMES[part]!)
    .map((part) => shorterBounds(length, cut, k, part));
}

/** A chunk with at least one open frame, as stored in run.db. */
export interface ChunkScores {
  /** 0-based. */
  chunk: number;
  /** Bit masks over F1..R3b: existing frames, and those of them without a score. */
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
  /** float32; how far the call is from turning (see `SequenceTally`), null without a call. */
  margin: number | null;
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
  /** The chunk lengths by which its scored chunks were judged; null without one. */
  judgedBy: string | null;
  /** Runs of chunks in order, as in `3v1n2u`: virus, other, without a score. Null for a sequence that is not cut. */
  along: string | null;
}

/**
 * Sums up the chunks of one record, given in order. Each scored chunk is weighted by its new bases, which no
 * earlier scored chunk covers, so that overlaps do not count twice. Of a chunk that a second look judged, only the
 * shorter chunks with an open frame count. virus_score is the mean of their virus
 * scores with these weights, added up in float64 in the order of the chunks, then rounded to float32. The
 * call follows from the rounded score, and so never contradicts it. A record fails if any chunk failed; its
 * scored chunks are still counted.
 *
 * The margin of a chunk is the difference of the two scores that its call compares, so that scores of frames
 * which are off by less than half of it can't turn the call. The margin of a record is the smallest m for which
 * its call turns if all its chunks with the same call and a margin of at most m turn, and its score moves by
 * m / 2 besides.
 */
export class SequenceTally {
  readonly #length: number;
  readonly #cut: Cut;
  #failure: Reason | null = null;
  #sum = 0;
  #scored = 0;
  #viral = 0;
  /** Of each scored chunk: its margin, and by how much the sum grows or falls if its call turns. */
  readonly #turns: { margin: number; change: number }[] = [];
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
  readonly #judges = new Set<number>();
  readonly #along: { chunks: number; kind: 'v' | 'n' | 'u' }[] = [];
  /** The chunk after the last that was added. */
  #next = 0;

  constructor(length: number, cut: Cut) {
    this.#length = length;
    this.#cut = cut;
  }

  add({ chunk, frames, unscored, pairs, reason }: ChunkScores): void {
    this.#frames += framesIn(frames).length;
    this.#extend('u', chunk - this.#next);
    this.#next = chunk + 1;
    this.#framesScored += pairs.length / 2;
    if (reason !== null) {
      this.#failure ??= reason;
      this.#extend('u', 1);
      return;
    }
    const { isVirus, virusScore, turnedScore, deciding, score1, score2 } = callChunk(pairs);
    this.#extend(isVirus ? 'v' : 'n', 1);
    this.#judges.add(judgedBy(this.#cut, frames));
    let newBases = 0;
    for (const { start, end } of judgedBounds(this.#length, this.#cut, chunk, frames)) {
      newBases += Math.max(0, end - Math.max(start, this.#covered));
      this.#covered = Math.max(this.#covered, end);
    }
    this.#sum += virusScore * newBases;
    this.#turns.push({ margin: Math.abs(score2 - score1), change: (turnedScore - virusScore) * newBases });
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
      this.#bestFrame = framesIn(frames & ~unscored)[deciding]!;
    } else if (virusScore > this.#secondScore) {
      this.#secondScore = virusScore;
    }
  }

  #extend(kind: 'v' | 'n' | 'u', chunks: number): void {
    if (chunks === 0) return;
    const last = this.#along.at(-1);
    if (last?.kind === kind) last.chunks += chunks;
    else this.#along.push({ chunks, kind });
  }

  #alongOf(fault: Reason | null): string | null {
    if (fault !== null) return null;
    this.#extend('u', chunkCount(this.#length, this.#cut.chunkLength) - this.#next);
    return this.#along.map(({ chunks, kind }) => `${chunks}${kind}`).join('') || null;
  }

  /** `fault` is why prepare found the record can't be scored, null if it can. */
  summary(fault: Reason | null): SequenceSummary {
    const virusScore = this.#scored === 0 ? null : Math.fround(this.#sum / this.#basesScored);
    const outcome = this.#outcome(fault, virusScore);
    return {
      ...outcome,
      virusScore,
      margin: outcome.reason === 'ok' ? this.#margin(outcome.prediction) : null,
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
      judgedBy: this.#scored < 1 ? null : [...this.#judges].sort((a, b) => b - a).join('+'),
      along: this.#alongOf(fault),
    };
  }

  #margin(prediction: Prediction): number {
    const sign = prediction === 'virus' ? -1 : 1;
    let smallest = Math.max(0, 2 * sign * (VIRUS_FROM - this.#sum / this.#basesScored));
    for (const { margin, change } of this.#turns.sort((one, other) => one.margin - other.margin)) {
      if (smallest <= margin) break;
      smallest = Math.max(margin, smallest - (2 * Math.max(0, sign * change)) / this.#basesScored);
    }
    return Math.fround(smallest);
  }

  #outcome(fault: Reason | null, virusScore: number | null): { prediction: Prediction; reason: Reason } {
    if (fault !== null) return { prediction: 'not_scored', reason: fault };
    if (this.#failure !== null) return { prediction: 'failed', reason: this.#failure };
    if (virusScore === null) return { prediction: 'not_scored', reason: 'no_open_frame' };
    return { prediction: virusScore >= VIRUS_FROM ? 'virus' : 'others', reason: 'ok' };
  }
}
