import { MantineProvider, useMantineColorScheme } from '@mantine/core';
import { useEffect, useMemo, type ReactNode } from 'react';
import { Announcer } from './components/Announcer.tsx';
import { BrowseDialog } from './components/BrowseDialog.tsx';
import { FileDropZone } from './components/FileDropZone.tsx';
import { Toasts } from './components/Toasts.tsx';
import { createTexts, TextsContext } from './i18n/index.ts';
import { Welcome } from './screens/welcome/Welcome.tsx';
import { Refused } from './shell/Refused.tsx';
import { Shell } from './shell/Shell.tsx';
import { connectionStore, useConnectionStatus } from './state/connection.ts';
import { go } from './state/navigation.ts';
import { addDropped } from './state/newRun/store.ts';
import { followRuns } from './state/runs.ts';
import { loadSettings, useSettings } from './state/settings.ts';
import { sayError } from './state/toasts.ts';
import { theme } from './styles/theme.ts';

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <WithLanguage>
        <WithTheme />
        <Contents />
      </WithLanguage>
    </MantineProvider>
  );
}

function Contents() {
  const refused = useConnectionStatus() === 'refused';
  useEffect(followRuns, []);
  useEffect(loadSettingsOnConnect, []);
  if (refused) return <Refused />;
  return (
    <>
      <Shell />
      <FileDropZone onDrop={onDrop} />
      <BrowseDialog />
      <Welcome />
      <Toasts />
      <Announcer />
    </>
  );
}

function onDrop(transfer: DataTransfer): void {
  go({ screen: 'new-run' });
  void addDropped(transfer);
}

/** Another window may have changed them while this one was cut off: they are read anew with every link. */
function loadSettingsOnConnect(): () => void {
  const load = () => {
    if (connectionStore.getState().status === 'connected') loadSettings().catch(sayError);
  };
  load();
  return connectionStore.subscribe(load);
}

function WithLanguage({ children }: { children: ReactNode }) {
  const language = useSettings((state) => state.settings?.language ?? 'en');
  const texts = useMemo(() => createTexts(language), [language]);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return <TextsContext value={texts}>{children}</TextsContext>;
}

function WithTheme() {
  const chosen = useSettings((state) => state.settings?.theme);
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: false });
  useEffect(() => {
    if (chosen !== undefined) setColorScheme(chosen === 'system' ? 'auto' : chosen);
  }, [chosen, setColorScheme]);
  return null;
}
