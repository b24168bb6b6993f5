import { EVIDENCE_RULE, SHORTEST_LENGTH } from '../../../../electron/contract/index.ts';
import type { Texts } from '../../../i18n/index.ts';

/** The rule of the evidence levels in words, for a run whose chunks have this length. */
export function evidenceRule({ t, format }: Pick<Texts, 't' | 'format'>, chunkLength: number): string {
  const { scoredChunkLengths, strong } = EVIDENCE_RULE;
  return t('evidence.rule', {
    weakBases: format.integer(scoredChunkLengths * chunkLength),
    shortest: format.integer(SHORTEST_LENGTH),
    strongBases: format.integer(strong.scoredBases),
    score: format.decimal(strong.score, 1),
    otherScore: format.decimal(1 - strong.score, 1),
  });
}
