import { EVIDENCE_RULE } from '../../contract/evidence.ts';
import type { Evidence, Prediction } from '../../contract/results.ts';

export interface EvidenceFacts {
  prediction: Prediction;
  virusScore: number | null;
  length: number;
  nChunks: number;
  nChunksScored: number;
  nChunksViral: number;
  secondScore: number | null;
}

/** How much the data of a sequence say for its call; null where it has none. The level is not a probability: it says on how
 * much of the sequence the call rests, and whether its parts agree. */
export function evidenceOf(facts: EvidenceFacts): Evidence | null {
  const { prediction, virusScore, nChunksScored, nChunksViral, secondScore } = facts;
  if (prediction !== 'virus' && prediction !== 'others') return null;
  if (virusScore === null || secondScore === null) return 'weak';
  const { middle, strong } = EVIDENCE_RULE;
  const isVirus = prediction === 'virus';
  const agreement = (isVirus ? nChunksViral : nChunksScored - nChunksViral) / nChunksScored;
  if (
    nChunksScored < EVIDENCE_RULE.scoredChunks ||
    agreement < EVIDENCE_RULE.agreement ||
    virusScore >= middle !== isVirus
  )
    return 'weak';
  const isStrong =
    facts.length >= strong.length &&
    nChunksScored >= strong.scoredChunks &&
    nChunksScored >= strong.scoredShare * facts.nChunks &&
    agreement >= strong.agreement &&
    (isVirus ? secondScore >= strong.secondScore : secondScore < middle);
  return isStrong ? 'strong' : 'moderate';
}
