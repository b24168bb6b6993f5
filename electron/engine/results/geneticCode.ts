/** Fewer chunks say nothing about the genetic code of a sequence. */
const FEWEST_CHUNKS = 6;
/** Of all chunks; 44 % of the chunks of 500 bp of gut contigs have no open frame in the standard code. */
const LOST = 2 / 3;
/** Of the chunks without an open frame. */
const LOST_TO_ONE_CODON = 2 / 5;

/**
 * The genetic code by which a sequence may have to be read: 15 where TAG, 4 where TGA stands for an amino acid; null where nothing
 * points to one. How often it is right: docs/results.md.
 */
export function geneticCodeHint(record: {
  nChunks: number;
  nLost: number;
  nLostToTag: number;
  nLostToTga: number;
}): 4 | 15 | null {
  const { nChunks, nLost, nLostToTag, nLostToTga } = record;
  if (nChunks < FEWEST_CHUNKS || nLost < LOST * nChunks || nLostToTag === nLostToTga) return null;
  if (Math.max(nLostToTag, nLostToTga) < LOST_TO_ONE_CODON * nLost) return null;
  return nLostToTag > nLostToTga ? 15 : 4;
}
