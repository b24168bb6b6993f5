import { expect, it } from 'vitest';
import { geneticCodeHint } from './sequenceRemarks.ts';

/**
 * Counts from real contigs: a gut contig that reads through TAG, crAssphage, a short one with many TGA; and a
 * made-up one for code 4.
 */
it.each([
  [{ nChunks: 8, nChunksLost: 8, nChunksLostToTag: 6, nChunksLostToTga: 0 }, 15],
  [{ nChunks: 195, nChunksLost: 84, nChunksLostToTag: 6, nChunksLostToTga: 0 }, null],
  [{ nChunks: 5, nChunksLost: 4, nChunksLostToTag: 1, nChunksLostToTga: 4 }, null],
  [{ nChunks: 12, nChunksLost: 10, nChunksLostToTag: 1, nChunksLostToTga: 5 }, 4],
  [{ nChunks: 12, nChunksLost: 12, nChunksLostToTag: 6, nChunksLostToTga: 6 }, null],
  // Just enough chunks, lost chunks, and chunks lost to one codon; then one too few.
  [{ nChunks: 6, nChunksLost: 4, nChunksLostToTag: 2, nChunksLostToTga: 1 }, 15],
  [{ nChunks: 15, nChunksLost: 10, nChunksLostToTag: 0, nChunksLostToTga: 4 }, 4],
  [{ nChunks: 5, nChunksLost: 5, nChunksLostToTag: 5, nChunksLostToTga: 0 }, null],
  [{ nChunks: 6, nChunksLost: 3, nChunksLostToTag: 3, nChunksLostToTga: 0 }, null],
  [{ nChunks: 15, nChunksLost: 10, nChunksLostToTag: 3, nChunksLostToTga: 2 }, null],
  [{ nChunks: 0, nChunksLost: 0, nChunksLostToTag: 0, nChunksLostToTga: 0 }, null],
])('for %o is %s', (record, hint) => {
  expect(geneticCodeHint(record)).toBe(hint);
});
