import { expect, it } from 'vitest';
import { tryFlips } from './testing/flips.ts';

/** `npm run node -- electron/engine/store/testing/runFlips.ts` tries any number. */
const FLIPS = 60;

it('finds each flipped bit of a run, or gives the same tables', async () => {
  const counts = await tryFlips(FLIPS, 20_261_122);
  expect(counts.changed).toEqual([]);
  expect(counts.tried).toBe(FLIPS);
  // If fewer were found, the test itself would be broken.
  expect(counts.found).toBeGreaterThan(FLIPS / 4);
});
