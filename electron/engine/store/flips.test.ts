import { expect, it } from 'vitest';
import { tryFlips } from './testing/flips.ts';

it('finds each flipped bit of a run, or gives the same tables', () => {
  const counts = tryFlips(150, 20_261_122);
  expect(counts.changed).toEqual([]);
  expect(counts.tried).toBe(150);
  // Else it would be the test that finds nothing.
  expect(counts.found).toBeGreaterThan(50);
});
