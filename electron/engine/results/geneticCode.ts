/** Fewer chunks are no evidence about a sequence's genetic code. */
const FEWEST_CHUNKS = 6;
/** Share of all chunks; 44 % of the 500-bp chunks of gut contigs have no open frame in the standard code. */
const LOST = 2 / 3;
/** Share of the chunks without an open frame. */
const LOST_TO_ONE_CODON = 2 / 5;

/**
 * The genetic code that a sequence may use: 15 if TAG, 4 if TGA encodes an amino acid; null without evidence
 * for either. docs/results.md says how often it is right.
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
