import { FRAME_NAMES, type FrameName } from '../../contract/results.ts';

/** Scores of one chunk: pairs (score1 = others, score2 = virus) of its scored frames, F1 to R3. */
export type ScorePairs = Float32Array;

/** The original's call of a chunk: virus if the largest score2 is at least the largest score1. */
export function isVirusCall(pairs: ScorePairs): boolean {
  return largest(pairs, 1) >= largest(pairs, 0);
}

/** The original's call of a frame; a tie is `others`. */
export function isVirusFrame(score1: number, score2: number): boolean {
  return score2 > score1;
}

/** Which pair has the largest score1 (which = 0) or score2 (which = 1); the first of equals. */
export function indexOfLargest(pairs: ScorePairs, which: 0 | 1): number {
  let best = which as number;
  for (let i = which + 2; i < pairs.length; i += 2) if (pairs[i]! > pairs[best]!) best = i;
  return best >> 1;
}

export function largest(pairs: ScorePairs, which: 0 | 1): number {
  return pairs[2 * indexOfLargest(pairs, which) + which]!;
}

/** By frame mask (bit 0 = F1 to bit 5 = R3): numbers of its frames, ascending. */
export const FRAMES_IN_MASK: readonly (readonly number[])[] = Array.from({ length: 64 }, (_, mask) =>
  FRAME_NAMES.map((_, frame) => frame).filter((frame) => mask & (1 << frame)),
);

export function frameName(frame: number): FrameName {
  return FRAME_NAMES[frame]!;
}
