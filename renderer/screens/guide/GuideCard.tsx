import { Text } from '@mantine/core';
import { Card } from '../../components/Card.tsx';
import { useTexts } from '../../i18n/index.ts';
import { GUIDE, type GuideSection } from '../../state/guidePages.ts';
import { hashOfRoute } from '../../state/navigation.ts';
import classes from './Guide.module.css';
import { guidePage } from './pages.ts';

const SECTIONS = Object.keys(GUIDE) as GuideSection[];

export function GuideCard() {
  const { t, language } = useTexts();
  return (
    <Card title={t('guide.title')}>
      {SECTIONS.map((section) => (
        <section key={section} className={classes.section}>
          <Text component="h3" mb={4} fz="md" fw={620}>
            {t(`guide.${section}`)}
          </Text>
          <ul className={classes.pages}>
            {GUIDE[section].map((page) => {
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
        </section>
      ))}
    </Card>
  );
}
