import { EVIDENCE_RULE, isTooShort } from '../../contract/evidence.ts';
import type { Evidence, Prediction } from '../../contract/results.ts';

export interface EvidenceFacts {
  prediction: Prediction;
  virusScore: number | null;
  length: number;
  chunkLength: number;
  nBasesScored: number;
  nBasesViral: number;
}

/**
 * How strongly the data of a sequence support its call; null if it has none. The level is not a probability:
 * it says how much of the sequence supports the call, and whether its parts agree.
 */
export function evidenceOf(facts: EvidenceFacts): Evidence | null {
  const { prediction, virusScore, length, chunkLength, nBasesScored, nBasesViral } = facts;
  if ((prediction !== 'virus' && prediction !== 'others') || virusScore === null) return null;
  const { scoredChunkLengths, agreement: leastAgreement, strong } = EVIDENCE_RULE;
  const isVirus = prediction === 'virus';
  const agreement = (isVirus ? nBasesViral : nBasesScored - nBasesViral) / nBasesScored;
  if (isTooShort(length) || nBasesScored < scoredChunkLengths * chunkLength || agreement < leastAgreement)
    return 'weak';
  const isStrong =
    nBasesScored >= strong.scoredBases &&
    nBasesScored >= strong.scoredShare * length &&
    agreement >= strong.agreement &&
    (isVirus ? virusScore : 1 - virusScore) >= strong.score;
  return isStrong ? 'strong' : 'moderate';
}
