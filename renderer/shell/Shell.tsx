import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Banner } from '../components/feedback/Banner.tsx';
import { Guarded } from '../components/feedback/Guarded.tsx';
import { useTexts } from '../i18n/index.ts';
import { CompareScreen } from '../screens/compare/CompareScreen.tsx';
import { ComputersScreen } from '../screens/computers/ComputersScreen.tsx';
import { ComputerCheckScreen } from '../screens/computer-check/ComputerCheckScreen.tsx';
import { GuideScreen } from '../screens/guide/GuideScreen.tsx';
import { HelpScreen } from '../screens/help/HelpScreen.tsx';
import { HistoryScreen } from '../screens/history/HistoryScreen.tsx';
import { ModelsScreen } from '../screens/models/ModelsScreen.tsx';
import { NewRunScreen } from '../screens/new-run/NewRunScreen.tsx';
import { RunScreen } from '../screens/run/RunScreen.tsx';
import { SettingsScreen } from '../screens/settings/SettingsScreen.tsx';
import { StartScreen } from '../screens/welcome/StartScreen.tsx';
import { useChosenComputer } from '../state/computer/computers.ts';
import { chosenComputer, retryConnection, useConnectionStatus } from '../state/connection.ts';
import { hashOfRoute, useNavigation, type Route } from '../state/navigation.ts';
import { useSettings } from '../state/settings.ts';
import { EnvironmentBanner } from './EnvironmentBanner.tsx';
import { InterruptedBanner } from './InterruptedBanner.tsx';
import { Navigation } from './Navigation.tsx';
import classes from './Shell.module.css';

/** A short outage ends by itself; after this long the program has most likely exited. */
const DEAD_AFTER_MS = 15_000;

/** The window: navigation on the left, the screen beside it. */
export function Shell() {
  const { t } = useTexts();
  const route = useNavigation((state) => state.route);
  const status = useConnectionStatus();
  const isDead = useTrueFor(status === 'lost', DEAD_AFTER_MS);
  const chosen = useChosenComputer();
  // Until another computer has first answered, only the state of its connection can be shown.
  const isOnTheWay = useSettings((state) => chosenComputer !== null && state.info === null);
  const shown: Route = isOnTheWay ? { screen: 'computers' } : route;
  return (
    <div className={classes.shell} data-lost={status === 'lost' && !isOnTheWay}>
      <a href="#main" className="skip-link" onClick={skipToMain}>
        {t('shell.skip')}
      </a>
      <Guarded>
        <Navigation />
      </Guarded>
      <main id="main" className={classes.main} tabIndex={0}>
        <div className={classes.banners}>
          {status === 'lost' && !isOnTheWay && (
            <Banner
              tone="lost"
              title={
                chosen
                  ? t('computers.lost', { name: chosen.address })
                  : t(isDead ? 'connection.dead' : 'connection.lost')
              }
              urgent
              actions={
                <Button size="compact-sm" variant="default" onClick={retryConnection}>
                  {t('connection.retry')}
                </Button>
              }
            >
              {t(chosen ? 'computers.lostText' : isDead ? 'connection.deadText' : 'connection.lostText')}
            </Banner>
          )}
          <Guarded>
            {route.screen !== 'start' && <EnvironmentBanner atCheck={route.screen === 'computer'} />}
            <InterruptedBanner />
          </Guarded>
        </div>
        <Guarded what="screen" resetKeys={[hashOfRoute(shown)]}>
          <Screen route={shown} />
        </Guarded>
      </main>
    </div>
  );
}

function useTrueFor(condition: boolean, milliseconds: number): boolean {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (!condition) return undefined;
    const timer = setTimeout(() => setLong(true), milliseconds);
    return () => {
      clearTimeout(timer);
      setLong(false);
    };
  }, [condition, milliseconds]);
  return condition && isLong;
}

/** The fragment of the address names the screen, so the skip link must not change it. */
function skipToMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Screen({ route }: { route: Route }) {
  switch (route.screen) {
    case 'start':
      return <StartScreen />;
    case 'new-run':
      return <NewRunScreen />;
    case 'runs':
      return <HistoryScreen />;
    case 'run':
      return <RunScreen key={route.runId} runId={route.runId} tab={route.tab} />;
    case 'models':
      return <ModelsScreen />;
    case 'compare':
      return <CompareScreen runId={route.runId} otherRunId={route.otherRunId} />;
    case 'computer':
      return <ComputerCheckScreen />;
    case 'computers':
      return <ComputersScreen />;
    case 'settings':
      return <SettingsScreen />;
    case 'help':
      return <HelpScreen />;
    case 'guide':
      return <GuideScreen key={route.page} page={route.page} />;
  }
}
