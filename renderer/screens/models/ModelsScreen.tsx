import { Fold } from '../../components/Fold.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { hashOfRoute } from '../../state/navigation.ts';
import { CalibrationCard } from './CalibrationCard.tsx';
import { ModelList } from './ModelList.tsx';
import classes from './Models.module.css';

const LIMITS = ['chance', 'weak', 'shifted', 'differs', 'no_answer'] as const;

/** Which models are installed, what they need, and whether they can be relied on. */
export function ModelsScreen() {
  const { t } = useTexts();
  return (
    <Page title={t('nav.models')} lead={t('models.lead')}>
      <ModelList withTeaching />
      <CalibrationCard />
      <section>
        <p className={classes.text}>{t('controls.cannotSay')}</p>
        <Fold title={t('controls.limits')}>
          <ul className={classes.text}>
            {LIMITS.map((limit) => (
              <li key={limit}>{t(`controls.limit.${limit}`)}</li>
            ))}
          </ul>
          <p className={classes.text}>
            <a href={hashOfRoute({ screen: 'guide', page: 'models' })}>{t('controls.guide')}</a>
          </p>
        </Fold>
      </section>
    </Page>
  );
}
