import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, Group, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import {
  setupSettingsSchema,
  type FilePurpose,
  type SetupSettings,
} from '../../../electron/contract/index.ts';
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
        {NETWORK.map((name) => {
          const picks = PICKS[name];
          return (
            <Field
              key={name}
              name={name}
              label={t(`settings.${name}`)}
              value={settings[name]}
              {...(picks ? { picks: { kind: 'files', purpose: picks } } : {})}
            >
              {t(`settings.${name}Help`)}
            </Field>
          );
        })}
      </Fold>
    </Section>
  );
}

/** Settings for an office network or an offline computer. They are unfolded if any of them is set. */
const NETWORK = ['proxy', 'certificateFile', 'packageIndex', 'weightsMirror', 'interpreter'] as const;
/** Those that name a file. */
const PICKS: Partial<Record<Name, FilePurpose>> = {
  certificateFile: 'certificate',
  interpreter: 'interpreter',
};
/** The error if a text does not even have the required form. */
const WRONG: Partial<Record<Name, `settings.${'proxy' | 'packageIndex' | 'weightsMirror'}Wrong`>> = {
  proxy: 'settings.proxyWrong',
  packageIndex: 'settings.packageIndexWrong',
  weightsMirror: 'settings.weightsMirrorWrong',
};

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
  /** Adds a button that lets the user choose the value. */
  picks?: Choice;
  children: React.ReactNode;
}

function Field({ name, label, value, picks, children }: FieldProps) {
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
      setError(t(WRONG[name] ?? 'settings.proxyWrong'));
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
      {/* As far down as the field's label is high. */}
      <Group gap={8} mt={22}>
        {picks && (
          <Button
            variant="default"
            aria-label={`${t('common.choose')}: ${label}`}
            onClick={() => void pick(picks)}
          >
            {t('common.choose')}
          </Button>
        )}
        {isChanged && (
          <Button type="submit" loading={isSaving} aria-label={`${t('common.save')}: ${label}`}>
            {t('common.save')}
          </Button>
        )}
      </Group>
    </form>
  );
}
