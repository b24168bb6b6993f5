import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunkBounds, chunkCount } from './sequenceTally.ts';

function starts(length: number, chunkLength: number): number[] {
  return bounds(length, chunkLength).map(({ start }) => start);
}

function bounds(length: number, chunkLength: number) {
  return Array.from({ length: chunkCount(length, chunkLength) }, (_, k) =>
    chunkBounds(length, chunkLength, k),
  );
}

/**
 * The definition as a loop: each chunk begins one chunk length after the previous one, minus its share of the
 * overlap.
 */
function plainStarts(length: number, chunkLength: number): number[] {
  const n = Math.ceil(length / chunkLength);
  const excess = n * chunkLength - length;
  const lower = Math.floor(excess / n);
  const need = excess - lower * (n - 1);
  const result: number[] = [];
  let start = 0;
  for (let k = 0; k < n; k++) {
    result.push(start);
    start += chunkLength - (k < need ? lower + 1 : lower);
  }
  return result;
}

describe('chunk layout', () => {
  it.each([
    [499, [0], 499],
    [500, [0], 500],
    [501, [0, 250], 251],
    [700, [0, 349], 351],
    [999, [0, 499], 500],
    [1000, [0, 500], 500],
    [1001, [0, 333, 666], 335],
    [1400, [0, 466, 932], 468],
    [2600, [0, 433, 866, 1299, 1732, 2165], 435],
  ])('cuts %i bases as the original does', (length, expected, last) => {
    expect(starts(length, 500)).toEqual(expected);
    const { start, end } = bounds(length, 500).at(-1)!;
    expect(end - start).toBe(last);
  });

  it('agrees with the plain definition and covers every base', () => {
    const length = fc.integer({ min: 1, max: 30_000 });
    fc.assert(
      fc.property(length, fc.constantFrom(300, 500), (L, c) => {
        const chunks = bounds(L, c);
        expect(chunks.map(({ start }) => start)).toEqual(plainStarts(L, c));
        expect(chunks.at(-1)!.end).toBe(L);
        for (const [k, { start, end }] of chunks.entries()) {
          if (k < chunks.length - 1) expect(end - start).toBe(c);
          expect(start).toBeLessThanOrEqual(k === 0 ? 0 : chunks[k - 1]!.end);
        }
      }),
    );
  });

  it('has no chunk for an empty sequence', () => {
    expect(chunkCount(0, 500)).toBe(0);
  });
});
