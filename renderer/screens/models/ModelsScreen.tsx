import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { hashOfRoute } from '../../state/navigation.ts';
import { ModelList } from './ModelList.tsx';

/** Which models are installed, what they need, and whether they can be relied on. */
export function ModelsScreen() {
  const { t } = useTexts();
  return (
    <Page title={t('nav.models')} lead={t('models.lead')}>
      <ModelList withTeaching />
      <a href={hashOfRoute({ screen: 'guide', page: 'models' })}>{t('controls.guide')}</a>
    </Page>
  );
}
