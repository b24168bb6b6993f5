import { Card } from '../../components/Card.tsx';
import { useTexts } from '../../i18n/index.ts';
import { GUIDE_PAGES } from '../../state/guidePages.ts';
import { hashOfRoute } from '../../state/navigation.ts';
import classes from './Guide.module.css';
import { guidePage } from './pages.ts';

export function GuideCard() {
  const { t, language } = useTexts();
  return (
    <Card title={t('guide.title')}>
      <ul className={classes.pages}>
        {GUIDE_PAGES.map((page) => {
          const { title, language: written } = guidePage(page, language);
          return (
            <li key={page}>
              <a href={hashOfRoute({ screen: 'guide', page })} lang={written}>
                {title}
              </a>
              {written !== language && <span> {t('guide.inEnglish')}</span>}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
