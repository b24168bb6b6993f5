import { useMutation } from '@tanstack/react-query';
import { Button, Group, SegmentedControl, Select, Switch, Text, TextInput } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { settingsSchema, type Settings } from '../../../electron/contract/index.ts';
import { Section } from '../../components/Card.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { chooseFolder } from '../../state/pathChooser.ts';
import { go } from '../../state/navigation.ts';
import { changeSettings, useSettings } from '../../state/settings.ts';
import { SetUpCard } from './SetUpCard.tsx';
import classes from './Settings.module.css';

const LANGUAGE_NAMES: Record<Settings['language'], string> = { en: 'English', de: 'Deutsch' };
/** A browser can do nothing about the first two. */
const SWITCHES = ['keepAwake', 'notifications'] as const;
const THEMES = settingsSchema.shape.theme.unwrap().options;

export function SettingsScreen() {
  const { t } = useTexts();
  const settings = useSettings((state) => state.settings);
  const info = useSettings((state) => state.info);
  const change = useMutation({ mutationFn: changeSettings });
  const pick = useMutation({
    mutationFn: async () => {
      const path = await chooseFolder('output');
      if (path !== null) await changeSettings({ outputFolder: path });
    },
  });
  if (!settings) {
    return (
      <Page narrow title={t('settings.title')}>
        <Section title={t('settings.look')}>
          <Waiting rows={2} />
        </Section>
      </Page>
    );
  }
  return (
    <Page narrow title={t('settings.title')}>
      <Section title={t('settings.look')}>
        <Row label={t('settings.theme')} help={t('settings.themeHelp')}>
          {(id) => (
            <SegmentedControl
              aria-labelledby={id}
              data={THEMES.map((value) => ({ value, label: t(`settings.theme.${value}`) }))}
              value={settings.theme}
              onChange={(theme) => change.mutate({ theme })}
            />
          )}
        </Row>
        <Row label={t('settings.language')} help={t('settings.languageHelp')}>
          {(id) => (
            <Select
              w={200}
              aria-labelledby={id}
              data={Object.entries(LANGUAGE_NAMES).map(([value, label]) => ({ value, label }))}
              value={settings.language}
              onChange={(language) => change.mutate({ language: language === 'de' ? 'de' : 'en' })}
            />
          )}
        </Row>
      </Section>
      <Section title={t('settings.running')}>
        <Row label={t('settings.outputFolder')} help={t('settings.outputFolderHelp')}>
          {(id) => (
            <Group gap={8} w="100%" wrap="nowrap">
              <TextInput
                className={classes.field ?? ''}
                aria-labelledby={id}
                readOnly
                value={settings.outputFolder ?? t('settings.besideInput')}
              />
              <Button variant="default" onClick={() => pick.mutate()}>
                {t('common.choose')}
              </Button>
              {settings.outputFolder !== null && (
                <Button variant="default" onClick={() => change.mutate({ outputFolder: null })}>
                  {t('advanced.reset')}
                </Button>
              )}
            </Group>
          )}
        </Row>
        {(info?.shell === 'electron' ? SWITCHES : SWITCHES.slice(-1)).map((name) => (
          <Row key={name} label={t(`settings.${name}`)} help={t(`settings.${name}Help`)}>
            {(id) => (
              <Switch
                aria-labelledby={id}
                checked={settings[name]}
                onChange={(event) => change.mutate({ [name]: event.currentTarget.checked })}
              />
            )}
          </Row>
        ))}
      </Section>
      <SetUpCard settings={settings} />
      <Section title={t('settings.program')}>
        <Row label={t('settings.version')}>
          {(id) => <span aria-labelledby={id}>{info?.version ?? '–'}</span>}
        </Row>
        <Row label={t('nav.start')} help={t('settings.welcomeHelp')}>
          {() => (
            <Button variant="default" onClick={() => go({ screen: 'start' })}>
              {t('settings.showWelcome')}
            </Button>
          )}
        </Row>
      </Section>
    </Page>
  );
}

function Row({
  label,
  help,
  children,
}: {
  label: string;
  help?: string;
  children: (labelId: string) => ReactNode;
}) {
  const id = useId();
  return (
    <div className={classes.row}>
      <div>
        <Text component="div" fw={560} id={id}>
          {label}
        </Text>
        {help !== undefined && (
          <Text component="div" fz="sm" c="dimmed">
            {help}
          </Text>
        )}
      </div>
      <div className={classes.control}>{children(id)}</div>
    </div>
  );
}
