import { Button, Text } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { Card } from '../../components/Card.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { GUIDE, type GuidePage, type GuideSection } from '../../state/guidePages.ts';
import { go, hashOfRoute } from '../../state/navigation.ts';
import classes from './Guide.module.css';
import { guidePage } from './pages.ts';

/** One page of the guide, as it stands in docs/. */
export function GuideScreen({ page }: { page: GuidePage }) {
  const { t, language } = useTexts();
  const { title, html, language: written } = guidePage(page, language);
  return (
    <Page
      title={title}
      actions={
        <Button
          variant="default"
          leftSection={<IconArrowLeft size={16} aria-hidden />}
          onClick={() => go({ screen: 'help' })}
        >
          {t('guide.back')}
        </Button>
      }
    >
      <Card>
        {/* Made of the program's own files when the window is built. */}
        <div className={classes.text} lang={written} dangerouslySetInnerHTML={{ __html: html }} />
      </Card>
    </Page>
  );
}

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
