import { EVIDENCE_RULE, SHORTEST_LENGTH } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import classes from '../ResultsTab.module.css';

/** Explains the rule of the evidence levels in a hint, for a run with chunks of this length. */
export function EvidenceRule({ chunkLength }: { chunkLength: number }) {
  const { t, format } = useTexts();
  const { scoredChunkLengths, strong } = EVIDENCE_RULE;
  return (
    <>
      {t('evidence.about')}
      <table className={classes.rule}>
        <thead>
          <tr>
            <td />
            <th scope="col">{t('evidence.rule.scored')}</th>
            <th scope="col">{t('evidence.rule.agree')}</th>
            <th scope="col">{t('column.virusScore')}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{t('evidence.strong')}</th>
            <td>{t('evidence.rule.strong', { bases: format.integer(strong.scoredBases) })}</td>
            <td>{t('evidence.rule.agreeStrong')}</td>
            <td>
              {t('evidence.rule.score', {
                score: format.decimal(strong.score, 1),
                otherScore: format.decimal(1 - strong.score, 1),
              })}
            </td>
          </tr>
          <tr>
            <th scope="row">{t('evidence.moderate')}</th>
            <td>
              {t('evidence.rule.moderate', { bases: format.integer(scoredChunkLengths * chunkLength) })}
            </td>
            <td>{t('evidence.rule.agreeModerate')}</td>
            <td />
          </tr>
          <tr>
            <th scope="row">{t('evidence.weak')}</th>
            <td colSpan={3}>{t('evidence.rule.weak', { shortest: format.integer(SHORTEST_LENGTH) })}</td>
          </tr>
          <tr>
            <th scope="row">{t('evidence.undecided')}</th>
            <td colSpan={3}>{t('evidence.rule.undecided')}</td>
          </tr>
        </tbody>
      </table>
    </>
  );
}
