import { Stack, Text } from '@mantine/core';
import { Section } from '../../components/Card.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useSettings } from '../../state/settings.ts';
import { GuideCard } from '../guide/GuideScreen.tsx';

const TERMS = [
  'contig',
  'chunk',
  'frame',
  'score',
  'threshold',
  'notScored',
  'part',
  'model',
  'precision',
  'embedding',
] as const;
const QUESTIONS = [
  'howItWorks',
  'meaning',
  'short',
  'answers',
  'interrupt',
  'offline',
  'privacy',
  'files',
] as const;
const KEYS = ['table', 'open', 'close', 'skip'] as const;

export function HelpScreen() {
  const { t } = useTexts();
  const info = useSettings((state) => state.info);
  return (
    <Page title={t('nav.help')} lead={t('help.lead')}>
      <div className="columns" style={{ alignItems: 'start' }}>
        <Section title={t('help.questions')}>
          {QUESTIONS.map((question) => (
            <section key={question} className="entry">
              <Text component="h3" fz={15} fw={600} mb={2}>
                {t(`help.${question}.title`)}
              </Text>
              <Text maw="70ch">{t(`help.${question}.text`)}</Text>
            </section>
          ))}
        </Section>
        <Stack gap={16}>
          <GuideCard />
          <Section title={t('help.glossary')}>
            <dl className="terms">
              {TERMS.map((term) => (
                <div key={term}>
                  <dt>{t(`glossary.${term}.term`)}</dt>
                  <dd>{t(`glossary.${term}.text`)}</dd>
                </div>
              ))}
            </dl>
          </Section>
          <Section title={t('help.keyboard')}>
            <dl className="terms">
              {KEYS.map((key) => (
                <div key={key}>
                  <dt>{t(`keys.${key}.keys`)}</dt>
                  <dd>{t(`keys.${key}.text`)}</dd>
                </div>
              ))}
            </dl>
          </Section>
          <Section title={t('help.about')}>
            <Text maw="70ch">{t('help.aboutText', { version: info?.version ?? '–' })}</Text>
          </Section>
        </Stack>
      </div>
    </Page>
  );
}
