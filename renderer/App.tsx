import { MantineProvider, MantineThemeProvider, useMantineColorScheme } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, type ReactNode } from 'react';
import { Announcer } from './components/feedback/Announcer.tsx';
import { Guarded } from './components/feedback/Guarded.tsx';
import { BrowseDialog } from './components/files/BrowseDialog.tsx';
import { FileDropZone } from './components/files/FileDropZone.tsx';
import { sayError } from './state/say.ts';
import { createTexts, TextsContext, useTexts } from './i18n/index.ts';
import { OfflineDialogs } from './screens/offline/OfflineDialogs.tsx';
import { ComputerQuestion } from './screens/computers/ComputerQuestion.tsx';
import { RunDialogs } from './screens/history/RunDialogs.tsx';
import { keepFocus } from './shell/keepFocus.ts';
import { Refused } from './shell/Refused.tsx';
import { Shell } from './shell/Shell.tsx';
import { followComputers } from './state/computer/computers.ts';
import { connectionStore, homeConnection, useConnectionStatus } from './state/connection.ts';
import { keepDraft } from './state/newRun/draft.ts';
import { hashOfRoute, useNavigation } from './state/navigation.ts';
import { queryClient } from './state/queryClient.ts';
import { followEnvironment } from './state/computer/followEnvironment.ts';
import { chooseStartPlace } from './state/startPlace.ts';
import { followRuns } from './state/runs/runs.ts';
import { loadSettings, loadWindowSettings, useSettings } from './state/settings.ts';
import { theme } from './styles/theme.ts';

export function App() {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <WithLanguage>
          <Guarded what="window">
            <ModalsProvider>
              <WithTheme />
              <Contents />
            </ModalsProvider>
          </Guarded>
          <Guarded what="floating">
            <Toasts />
          </Guarded>
        </WithLanguage>
      </QueryClientProvider>
    </MantineProvider>
  );
}

function Contents() {
  const place = useNavigation(({ route }) => hashOfRoute(route));
  const refused = useConnectionStatus() === 'refused';
  useEffect(followComputers, []);
  useEffect(followRuns, []);
  useEffect(followEnvironment, []);
  useEffect(chooseStartPlace, []);
  useEffect(keepDraft, []);
  useEffect(keepFocus, []);
  useEffect(loadSettingsOnConnect, []);
  if (refused) return <Refused />;
  return (
    <>
      <Shell />
      <Guarded what="floating" resetKeys={[place]}>
        <FileDropZone />
        <OfflineDialogs />
        <BrowseDialog />
        <RunDialogs />
        <ComputerQuestion />
      </Guarded>
      <Announcer />
    </>
  );
}

function Toasts() {
  const { t } = useTexts();
  return (
    <section aria-label={t('toasts.label')}>
      <Notifications withinPortal={false} />
    </section>
  );
}

/** Another window may have changed the settings while this one was disconnected, so they are read again on every connect. */
function loadSettingsOnConnect(): () => void {
  const load = () => {
    if (connectionStore.getState().status === 'connected') loadSettings().catch(sayError);
  };
  const loadOwn = () => {
    if (homeConnection !== connectionStore && homeConnection.getState().status === 'connected')
      loadWindowSettings().catch(sayError);
  };
  load();
  loadOwn();
  const leave = [connectionStore.subscribe(load), homeConnection.subscribe(loadOwn)];
  return () => leave.forEach((one) => one());
}

function WithLanguage({ children }: { children: ReactNode }) {
  const language = useSettings((state) => state.settings?.language ?? 'en');
  const texts = useMemo(() => createTexts(language), [language]);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const labels = useMemo(
    () => ({ components: { CloseButton: { defaultProps: { 'aria-label': texts.t('common.close') } } } }),
    [texts],
  );
  return (
    <TextsContext value={texts}>
      <MantineThemeProvider theme={labels} inherit>
        {children}
      </MantineThemeProvider>
    </TextsContext>
  );
}

function WithTheme() {
  const chosen = useSettings((state) => state.settings?.theme);
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: false });
  useEffect(() => {
    if (chosen !== undefined) setColorScheme(chosen === 'system' ? 'auto' : chosen);
  }, [chosen, setColorScheme]);
  return null;
}
