import { EVIDENCE_RULE } from '../../../../electron/contract/index.ts';
import type { Texts } from '../../../i18n/index.ts';

/** The rule of the evidence levels in words. */
export function evidenceRule({ t, format }: Pick<Texts, 't' | 'format'>): string {
  const { scoredChunks, middle, strong } = EVIDENCE_RULE;
  return t('evidence.rule', {
    scoredChunks,
    middle: format.decimal(middle, 1),
    length: format.integer(strong.length),
    strongChunks: strong.scoredChunks,
    secondScore: format.decimal(strong.secondScore, 1),
  });
}
