import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chunkBounds, chunkCount } from './sequenceTally.ts';

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

it('agrees with the plain definition and covers every base, also around multiples of the chunk length', () => {
  const more = fc.oneof(fc.constantFrom(-1, 0, 1), fc.nat(499));
  fc.assert(
    fc.property(fc.constantFrom(300, 500), fc.nat(60), more, (c, chunkLengths, bases) => {
      const L = Math.max(0, chunkLengths * c + bases);
      const chunks = bounds(L, c);
      expect(chunks.map(({ start }) => start)).toEqual(plainStarts(L, c));
      expect(chunks.at(-1)?.end ?? 0).toBe(L);
      for (const [k, { start, end }] of chunks.entries()) {
        if (k < chunks.length - 1) expect(end - start).toBe(c);
        expect(start).toBeLessThanOrEqual(k === 0 ? 0 : chunks[k - 1]!.end);
      }
    }),
    { numRuns: 500 },
  );
});
