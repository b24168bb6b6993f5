/** Probability that the state changes from one chunk to the next. */
const SWITCH = 0.01;
/**
 * A single chunk's score counts as no more certain than this: one chunk among others with another call makes
 * no segment.
 */
const SUREST = 0.95;
/** With fewer scored chunks, the sequence's own call already says everything. */
const FEWEST_SCORED = 3;

type State = 0 | 1;

/** Chunks `first` to `last`, both with a score. */
export interface ViralSegment {
  first: number;
  last: number;
}

/**
 * Viral-looking segments of one sequence: the most likely path of two states along the virus scores of its
 * chunks, in order; null for a chunk without a score, which favours neither state. A segment is trimmed to
 * chunks with a score. Ties go to other.
 * A read, or a contig with fewer than three scored chunks, has none.
 */
export function viralSegments(scores: readonly (number | null)[]): ViralSegment[] {
  if (scores.filter((score) => score !== null).length < FEWEST_SCORED) return [];
  const [stay, change] = [Math.log(1 - SWITCH), Math.log(SWITCH)];
  /** For each chunk, the state before the best path that ends in other, and in virus. */
  const cameFrom: [State, State][] = [];
  let best: [number, number] = [0, 0];
  for (const [chunk, score] of scores.entries()) {
    const p = score === null ? 0.5 : Math.min(Math.max(score, 1 - SUREST), SUREST);
    const [others, virus] = best;
    const toOthers = [others + stay, virus + change] as const;
    const toVirus = [others + change, virus + stay] as const;
    cameFrom.push([toOthers[0] >= toOthers[1] ? 0 : 1, toVirus[1] >= toVirus[0] ? 1 : 0]);
    const before = chunk === 0 ? ([0, 0] as const) : ([Math.max(...toOthers), Math.max(...toVirus)] as const);
    best = [before[0] + Math.log(1 - p), before[1] + Math.log(p)];
  }
  const segments: ViralSegment[] = [];
  let current: ViralSegment | null = null;
  let state: State = best[1] > best[0] ? 1 : 0;
  for (const [chunk, [fromOthers, fromVirus]] of [...cameFrom.entries()].toReversed()) {
    if (state === 0) current = null;
    else if (scores[chunk] !== null) {
      if (current) current.first = chunk;
      else segments.unshift((current = { first: chunk, last: chunk }));
    }
    state = state === 0 ? fromOthers : fromVirus;
  }
  return segments;
}
