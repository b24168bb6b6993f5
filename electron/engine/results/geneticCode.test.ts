import { expect, it } from 'vitest';
import { geneticCodeHint } from './sequenceRemarks.ts';

/**
 * Counts from real contigs: a gut contig that reads through TAG, crAssphage, a short one with many TGA; and a
 * made-up one for code 4.
 */
it.each([
  [{ nChunks: 8, nLost: 8, nLostToTag: 6, nLostToTga: 0 }, 15],
  [{ nChunks: 195, nLost: 84, nLostToTag: 6, nLostToTga: 0 }, null],
  [{ nChunks: 5, nLost: 4, nLostToTag: 1, nLostToTga: 4 }, null],
  [{ nChunks: 12, nLost: 10, nLostToTag: 1, nLostToTga: 5 }, 4],
  [{ nChunks: 12, nLost: 12, nLostToTag: 6, nLostToTga: 6 }, null],
  // Just enough chunks, lost chunks, and chunks lost to one codon; then one too few.
  [{ nChunks: 6, nLost: 4, nLostToTag: 2, nLostToTga: 1 }, 15],
  [{ nChunks: 15, nLost: 10, nLostToTag: 0, nLostToTga: 4 }, 4],
  [{ nChunks: 5, nLost: 5, nLostToTag: 5, nLostToTga: 0 }, null],
  [{ nChunks: 6, nLost: 3, nLostToTag: 3, nLostToTga: 0 }, null],
  [{ nChunks: 15, nLost: 10, nLostToTag: 3, nLostToTga: 2 }, null],
  [{ nChunks: 0, nLost: 0, nLostToTag: 0, nLostToTga: 0 }, null],
])('for %o is %s', (record, hint) => {
  expect(geneticCodeHint(record)).toBe(hint);
});
