import { expect, it } from 'vitest';
import { openTestService } from './testing/testService.ts';
import { tryReaderFlips } from './testing/readerFlips.ts';

/** For a longer test: VIRNUCPRO_FLIPS=600. */
const FLIPS = Number(process.env['VIRNUCPRO_FLIPS'] ?? 60);
const SEED = Number(process.env['VIRNUCPRO_SEED'] ?? 20_261_128);

it('answers from a run with a flipped bit as from the whole run, or refuses in words', async () => {
  const opened = await openTestService();
  const found = await tryReaderFlips(opened, { count: FLIPS, seed: SEED });
  await opened.service.close();
  expect(found.other).toEqual([]);
  expect(found.tried).toBe(FLIPS);
  // If fewer were refused, or all, the test itself would be broken.
  expect(found.refused).toBeGreaterThan(FLIPS / 30);
  expect(found.same).toBeGreaterThan(FLIPS / 10);
});
