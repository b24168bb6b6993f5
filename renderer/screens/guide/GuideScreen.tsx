import { Anchor, Button, Text } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { Section } from '../../components/Card.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { GUIDE, type GuidePage, type GuideSection } from '../../state/guidePages.ts';
import { go, hashOfRoute } from '../../state/navigation.ts';
import classes from './Guide.module.css';
import { guidePage } from './pages.ts';

export function GuideScreen({ page }: { page: GuidePage }) {
  const { t } = useTexts();
  const { title, html, parts } = guidePage(page);
  return (
    <Page
      key={page}
      title={title}
      titleLanguage="en"
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
      <div className={classes.page}>
        {parts.length > 1 && (
          <nav className={classes.contents} aria-label={t('guide.contents')}>
            <Text component="h2" fz="sm" fw={620} mb={4}>
              {t('guide.contents')}
            </Text>
            <ul className="plain-list" lang="en">
              {parts.map((part, number) => (
                <li key={part}>
                  {/* A link would not work: the address's fragment names the screen. */}
                  <Anchor
                    component="button"
                    type="button"
                    ta="start"
                    fz="sm"
                    onClick={() => goToPart(number)}
                  >
                    {part}
                  </Anchor>
                </li>
              ))}
            </ul>
          </nav>
        )}
        {/* The HTML is compiled from the program's own files when the window is built. */}
        <div className={classes.text} lang="en" dangerouslySetInnerHTML={{ __html: html }} />
      </div>
    </Page>
  );
}

function goToPart(number: number): void {
  const part = document.getElementById(`part-${number}`);
  part?.scrollIntoView({ block: 'start' });
  part?.focus({ preventScroll: true });
}

const SECTIONS = Object.keys(GUIDE) as GuideSection[];

export function GuideCard() {
  const { t } = useTexts();
  return (
    <Section title={t('guide.title')}>
      {SECTIONS.map((section) => (
        <section key={section} className={classes.section}>
          <Text component="h3" mb={4} fz="md" fw={620}>
            {t(`guide.${section}`)}
          </Text>
          <ul className={classes.pages}>
            {GUIDE[section].map((page) => (
              <li key={page}>
                <a href={hashOfRoute({ screen: 'guide', page })} lang="en">
                  {guidePage(page).title}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Section>
  );
}
