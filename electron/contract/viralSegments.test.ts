import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viralSegments } from './viralSegments.ts';

type Scores = readonly (number | null)[];

function likelihood(path: readonly number[], scores: Scores): number {
  return path.reduce((sum, state, i) => {
    const p = Math.min(Math.max(scores[i] ?? 0.5, 0.05), 0.95);
    const step = i === 0 ? 0 : Math.log(state === path[i - 1] ? 0.99 : 0.01);
    return sum + step + Math.log(state === 1 ? p : 1 - p);
  }, 0);
}

/** The segments that a path of states gives for the scores. */
function segmentsOf(path: readonly number[], scores: Scores) {
  const runs: number[][] = [];
  path.forEach((state, i) => {
    if (state === 0) return;
    const last = runs.at(-1);
    if (path[i - 1] === 1 && last) last.push(i);
    else runs.push([i]);
  });
  return runs.flatMap((chunks) => {
    const scored = chunks.filter((i) => scores[i] !== null);
    const [first, last] = [scored[0], scored.at(-1)];
    return first === undefined || last === undefined ? [] : [{ first, last }];
  });
}

describe('viral-looking segments', () => {
  it('come from the most likely of all paths', () => {
    const score = fc.oneof(
      { weight: 3, arbitrary: fc.double({ min: 0, max: 0.2, noNaN: true }) },
      { weight: 4, arbitrary: fc.double({ min: 0.8, max: 1, noNaN: true }) },
      { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
      { weight: 2, arbitrary: fc.constant(null) },
    );
    let found = 0;
    fc.assert(
      fc.property(fc.array(score, { maxLength: 9 }), (scores) => {
        const paths = Array.from({ length: 2 ** scores.length }, (_, n) =>
          scores.map((_, i) => (n >> i) & 1),
        );
        const best = Math.max(...paths.map((path) => likelihood(path, scores)));
        // If several paths are equally likely, any of them will do.
        const likely = paths.filter((path) => likelihood(path, scores) > best - 1e-9);
        const segments = viralSegments(scores);
        const scored = scores.filter((one) => one !== null).length;
        const wanted = likely.map((path) => (scored < 3 ? [] : segmentsOf(path, scores)));
        expect(wanted).toContainEqual(segments);
        found += segments.length;
      }),
      { numRuns: 400 },
    );
    expect(found).toBeGreaterThan(40);
  });

  it('find a phage inside a genome, across a chunk without a score and one with another call', () => {
    const others = (score: number) => new Array<number>(10).fill(score);
    const phage = [0.9, null, 0.95, 0.3, 0.9, 0.9, 0.9, null];
    expect(viralSegments([...others(0.1), ...phage, ...others(0.05)])).toEqual([{ first: 10, last: 16 }]);
  });

  it('are not made from one confident chunk alone, or from chunks without a score', () => {
    expect(viralSegments([0.2, 0.2, 0.2, 1, 0.2, 0.2, 0.2])).toEqual([]);
    expect(viralSegments([null, null])).toEqual([]);
    expect(viralSegments([])).toEqual([]);
  });

  it('are empty for a read, or if hardly any chunk has a score', () => {
    expect(viralSegments([0.6])).toEqual([]);
    expect(viralSegments([0.9, 0.1])).toEqual([]);
    expect(viralSegments([null, 0.51, null, null])).toEqual([]);
    expect(viralSegments([0.9, null, 0.9, 0.9])).toEqual([{ first: 0, last: 3 }]);
  });
});
