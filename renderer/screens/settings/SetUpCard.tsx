import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { setupSettingsSchema, type SetupSettings } from '../../../electron/contract/index.ts';
import { toShownError } from '../../api/callError.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { Section } from '../../components/Card.tsx';
import { Fold } from '../../components/Fold.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { choosePaths, type Choice } from '../../state/pathChooser.ts';
import { changeSettings, isElectron, useSettings } from '../../state/settings.ts';
import classes from './Settings.module.css';

type Name = keyof SetupSettings;

/** Settings that must be known before anything can be downloaded. Each is saved on its own, with its error shown below it. */
export function SetUpCard({ settings }: { settings: SetupSettings }) {
  const { t, format } = useTexts();
  const dataDir = useSettings((state) => state.info?.dataDir ?? null);
  const folder = settings.dataFolder ?? dataDir;
  const space = useQuery(
    queries.computer.freeSpace.queryOptions({ input: { folder: folder ?? '/' }, enabled: folder !== null }),
  );
  const free = space.data?.bytes ?? null;
  const isMoving = settings.dataFolder !== null && settings.dataFolder !== dataDir;
  const now = [
    !isMoving || dataDir === null ? null : t('settings.dataFolderNow', { folder: dataDir }),
    free === null ? null : t('settings.freeThere', { size: format.fileSize(free) }),
  ].filter((text) => text !== null);
  return (
    <Section title={t('settings.setUp')} aside={t('settings.setUpHint')}>
      <Field
        name="dataFolder"
        label={t('settings.dataFolderChange')}
        value={folder}
        picks={{ kind: 'folder', purpose: 'data' }}
      >
        {t('settings.dataFolderChangeHelp')}
        <Text span fz="inherit" c="inherit" style={{ overflowWrap: 'anywhere' }} display="block">
          {now.join(' · ')}
        </Text>
      </Field>
      {isMoving && <MovesAtNextStart folder={settings.dataFolder ?? ''} />}
      <Fold title={t('settings.network')} opened={NETWORK.some((name) => settings[name] !== null)}>
        <Field
          name="proxy"
          label={t('settings.proxy')}
          value={settings.proxy}
          wrong={t('settings.proxyWrong')}
        >
          {t('settings.proxyHelp')}
        </Field>
        <Field
          name="certificateFile"
          label={t('settings.certificateFile')}
          value={settings.certificateFile}
          picks={{ kind: 'files', purpose: 'certificate' }}
        >
          {t('settings.certificateFileHelp')}
        </Field>
        <Field
          name="packageIndex"
          label={t('settings.packageIndex')}
          value={settings.packageIndex}
          wrong={t('settings.packageIndexWrong')}
        >
          {t('settings.packageIndexHelp')}
        </Field>
        <Field
          name="weightsMirror"
          label={t('settings.weightsMirror')}
          value={settings.weightsMirror}
          wrong={t('settings.weightsMirrorWrong')}
        >
          {t('settings.weightsMirrorHelp')}
        </Field>
        <Field
          name="interpreter"
          label={t('settings.interpreter')}
          value={settings.interpreter}
          picks={{ kind: 'files', purpose: 'interpreter' }}
        >
          {t('settings.interpreterHelp')}
        </Field>
      </Fold>
    </Section>
  );
}

/** Settings for an office network or an offline computer. They are unfolded if any of them is set. */
const NETWORK = ['proxy', 'certificateFile', 'packageIndex', 'weightsMirror', 'interpreter'] as const;

/** The list of runs and the Python environment are open: they can't move while the program runs. */
function MovesAtNextStart({ folder }: { folder: string }) {
  const { t } = useTexts();
  const restart = useMutation({ mutationFn: () => engine.shell.restart() });
  return (
    <div role="status">
      <Banner
        tone="info"
        title={t('settings.moves', { folder })}
        actions={
          isElectron() && (
            <Button size="compact-md" loading={restart.isPending} onClick={() => restart.mutate()}>
              {t('settings.restart')}
            </Button>
          )
        }
      >
        {t(isElectron() ? 'settings.movesText' : 'settings.movesInBrowser')}
      </Banner>
    </div>
  );
}

/** Errors are shown right below the field. */
const ORDER: ('label' | 'input' | 'error' | 'description')[] = ['label', 'input', 'error', 'description'];

interface FieldProps {
  name: Name;
  label: string;
  /** The saved value. */
  value: string | null;
  /** The error if the text does not even have the required form. */
  wrong?: string;
  /** Adds a button that lets the user choose the value. */
  picks?: Choice;
  children: React.ReactNode;
}

function Field({ name, label, value, wrong, picks, children }: FieldProps) {
  const { t } = useTexts();
  /** Null while the field shows the saved value. */
  const [draft, setDraft] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isSaving, setSaving] = useState(false);
  const text = draft ?? value ?? '';
  const isChanged = draft !== null && draft.trim() !== (value ?? '');
  const save = async (entered: string) => {
    const next = entered.trim() === '' ? null : entered.trim();
    if (!setupSettingsSchema.shape[name].safeParse(next).success) {
      setError(wrong ?? t('settings.proxyWrong'));
      return;
    }
    setSaving(true);
    setError(null);
    try {
      await changeSettings({ [name]: next });
      setDraft(null);
    } catch (reason) {
      setError(toShownError(reason).cause);
    } finally {
      setSaving(false);
    }
  };
  const pick = async (choice: Choice) => {
    const [path] = await choosePaths(choice);
    if (path === undefined) return;
    setDraft(path);
    await save(path);
  };
  return (
    <form
      className={classes.setUpField}
      onSubmit={(event) => {
        event.preventDefault();
        void save(text);
      }}
    >
      <TextInput
        className={classes.field ?? ''}
        label={label}
        inputWrapperOrder={ORDER}
        description={children}
        descriptionProps={{ component: 'div' }}
        value={text}
        error={error}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setDraft(event.currentTarget.value);
          setError(null);
        }}
      />
      <div className={classes.setUpActions}>
        {picks && (
          <Button
            variant="default"
            aria-label={`${t('settings.choose')}: ${label}`}
            onClick={() => void pick(picks)}
          >
            {t('settings.choose')}
          </Button>
        )}
        {isChanged && (
          <Button type="submit" loading={isSaving} aria-label={`${t('settings.save')}: ${label}`}>
            {t('settings.save')}
          </Button>
        )}
      </div>
    </form>
  );
}
