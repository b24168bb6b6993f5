import { Card } from '../../components/Card.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { keyNames } from '../../shell/keyNames.ts';
import { useSettings } from '../../state/settings.ts';
import { GuideCard } from '../guide/GuideCard.tsx';
import classes from './Help.module.css';

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
/** As the command palette has them; of a row of keys the first and the last. */
const SHORTCUTS = [
  ['palette', ['mod+K']],
  ['places', ['alt+1', 'alt+5']],
  ['tabs', ['alt+shift+1', 'alt+shift+3']],
  ['pause', ['alt+P']],
  ['add', ['alt+O']],
] as const;
const KEYS = ['table', 'open', 'close', 'skip'] as const;

export function HelpScreen() {
  const { t } = useTexts();
  const info = useSettings((state) => state.info);
  return (
    <Page title={t('help.title')} lead={t('help.lead')}>
      <div className={classes.columns}>
        <Card title={t('help.questions')}>
          {QUESTIONS.map((question) => (
            <section key={question} className={classes.entry}>
              <h3 className={classes.heading}>{t(`help.${question}.title`)}</h3>
              <p className={classes.text}>{t(`help.${question}.text`)}</p>
            </section>
          ))}
        </Card>
        <div className={classes.side}>
          <GuideCard />
          <Card title={t('help.glossary')}>
            <dl className={classes.terms}>
              {TERMS.map((term) => (
                <div key={term}>
                  <dt>{t(`glossary.${term}.term`)}</dt>
                  <dd>{t(`glossary.${term}.text`)}</dd>
                </div>
              ))}
            </dl>
          </Card>
          <Card title={t('help.keyboard')}>
            <dl className={classes.terms}>
              {SHORTCUTS.map(([key, keys]) => (
                <div key={key}>
                  <dt>{keys.map(keyNames).join(' – ')}</dt>
                  <dd>{t(`keys.${key}.text`)}</dd>
                </div>
              ))}
              {KEYS.map((key) => (
                <div key={key}>
                  <dt>{t(`keys.${key}.keys`)}</dt>
                  <dd>{t(`keys.${key}.text`)}</dd>
                </div>
              ))}
            </dl>
          </Card>
          <Card title={t('help.about')}>
            <p className={classes.text}>{t('help.aboutText', { version: info?.version ?? '–' })}</p>
          </Card>
        </div>
      </div>
    </Page>
  );
}
