/** Probability that the state changes from one chunk to the next. */
const SWITCH = 0.01;
/** A single chunk's score counts as no surer than this: a chunk alone makes no segment. */
const SUREST = 0.95;

/** Chunks `first` to `last`, both with a score. */
export interface ViralSegment {
  first: number;
  last: number;
}

/**
 * Viral-looking segments of one sequence: the most likely path of two states along the virus scores of its chunks, in order, null for a
 * chunk without one, which says nothing for either state. A segment is cut back to chunks with a score. Where equally likely, other.
 */
export function viralSegments(scores: readonly (number | null)[]): ViralSegment[] {
  const [stay, change] = [Math.log(1 - SWITCH), Math.log(SWITCH)];
  /** By chunk the state before the best path to others, and to virus. */
  const cameFrom: [number, number][] = [];
  let best: [number, number] = [0, 0];
  for (const [chunk, score] of scores.entries()) {
    const p = score === null ? 0.5 : Math.min(Math.max(score, 1 - SUREST), SUREST);
    const [others, virus] = best;
    const from: [number, number] = [
      others + stay >= virus + change ? 0 : 1,
      virus + stay >= others + change ? 1 : 0,
    ];
    cameFrom.push(from);
    const reached = (state: 0 | 1): number =>
      chunk === 0 ? 0 : best[from[state]]! + (from[state] === state ? stay : change);
    best = [reached(0) + Math.log(1 - p), reached(1) + Math.log(p)];
  }
  const segments: ViralSegment[] = [];
  let current: ViralSegment | null = null;
  let state = best[1] > best[0] ? 1 : 0;
  for (let chunk = scores.length - 1; chunk >= 0; chunk--) {
    if (state === 0) current = null;
    else if (scores[chunk] !== null) {
      if (current) current.first = chunk;
      else segments.unshift((current = { first: chunk, last: chunk }));
    }
    state = cameFrom[chunk]![state]!;
  }
  return segments;
}
