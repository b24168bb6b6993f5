import { FRAME_NAMES, type FrameName } from '../../contract/results.ts';

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
  if (k === 0) return { start: 0, end: Math.min(chunkLength, length) };
  const excess = n * chunkLength - length;
  const lower = Math.floor(excess / n);
  const need = excess - lower * (n - 1);
  const start = k * chunkLength - Math.min(k, need) * (lower + 1) - Math.max(0, k - need) * lower;
  return { start, end: Math.min(start + chunkLength, length) };
}
