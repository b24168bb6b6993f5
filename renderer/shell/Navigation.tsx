import {
  IconBrain,
  IconDeviceDesktopCheck,
  IconHelpCircle,
  IconHistory,
  IconListCheck,
  IconPlus,
  IconServer2,
  IconSettings,
} from '@tabler/icons-react';
import { Text } from '@mantine/core';
import type { MouseEvent } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { isAtWork } from '../../electron/contract/runState.ts';
import type { RunSummary } from '../../electron/contract/index.ts';
import { Guarded } from '../components/feedback/Guarded.tsx';
import { ProgressBar } from '../components/feedback/ProgressBar.tsx';
import { useTexts } from '../i18n/index.ts';
import { useChosenComputer, useComputers } from '../state/computer/computers.ts';
import { go, hashOfRoute, useNavigation, type Route } from '../state/navigation.ts';
import { useLiveRun } from '../state/runs/liveRun.ts';
import { type RunStatus, runStatus, useRuns } from '../state/runs/runs.ts';
import { useSettings } from '../state/settings.ts';
import classes from './Navigation.module.css';

/** Runs at work or resting halfway: a paused run must not be forgotten. */
const RESTING: readonly RunStatus[] = ['paused', 'halted', 'interrupted'];
const needsSight = (run: RunSummary) => isAtWork(run) || RESTING.includes(runStatus(run));
const MOST_SHOWN = 6;

const PLACES = [
  { screen: 'start', icon: IconListCheck },
  { screen: 'new-run', icon: IconPlus },
  { screen: 'runs', icon: IconHistory },
  { screen: 'models', icon: IconBrain },
  { screen: 'computer', icon: IconDeviceDesktopCheck },
  { screen: 'computers', icon: IconServer2 },
  { screen: 'settings', icon: IconSettings },
  { screen: 'help', icon: IconHelpCircle },
] as const;

export function Navigation() {
  const { t } = useTexts();
  const route = useNavigation((state) => state.route);
  const isNew = useSettings((state) => state.settings?.welcomeSeen === false);
  const chosen = useChosenComputer();
  const hasComputers = useComputers() !== null;
  const places = PLACES.filter(
    ({ screen }) =>
      (screen !== 'start' || isNew || route.screen === 'start') && (screen !== 'computers' || hasComputers),
  );
  return (
    <nav className={classes.nav} aria-label={t('shell.navigation')}>
      <div className={classes.brand}>
        <Logo />
        <span className={classes.brandName}>
          VirNucPro{' '}
          <Text span fw={400} c="dimmed" fz="inherit">
            Desktop
          </Text>
        </span>
      </div>
      <ul className={`plain-list ${classes.list}`}>
        {places.map(({ screen, icon: Icon }) => (
          <li key={screen}>
            <Place
              to={{ screen }}
              current={route.screen === screen || (screen === 'help' && route.screen === 'guide')}
            >
              <Icon size={20} stroke={1.7} aria-hidden />
              <span className={classes.placeName}>
                {screen === 'computers' && chosen ? chosen.address : t(`nav.${screen}`)}
              </span>
            </Place>
          </li>
        ))}
      </ul>
      <Guarded>
        <RunsAtWork route={route} />
      </Guarded>
    </nav>
  );
}

function RunsAtWork({ route }: { route: Route }) {
  const { t, format } = useTexts();
  const busy = useRuns(useShallow((state) => state.runs?.filter(needsSight).slice(0, MOST_SHOWN) ?? []));
  // For the run on screen, the fraction is the one that its page shows.
  const shownId = useLiveRun((state) => state.live?.run.runId);
  const shownFraction = useLiveRun((state) => state.live?.progress.fraction ?? null);
  const fractionOf = (run: RunSummary) => (run.runId === shownId ? shownFraction : run.fraction);
  if (busy.length === 0) return null;
  return (
    <>
      <p className={classes.heading}>{t('nav.atWork')}</p>
      <ul className={`plain-list ${classes.list}`} data-live>
        {busy.map((run) => (
          <li key={run.runId}>
            <Place
              to={{ screen: 'run', runId: run.runId, tab: 'progress' }}
              current={route.screen === 'run' && route.runId === run.runId}
            >
              <span className={classes.run}>
                <span className="ellipsis">{run.name}</span>
                <Text span fz="xs" c="inherit">
                  {!isAtWork(run)
                    ? t(`runState.${runStatus(run)}`)
                    : fractionOf(run) === null
                      ? '–'
                      : format.progress(fractionOf(run) ?? 0)}
                </Text>
                <ProgressBar
                  label={t('files.progressOf', { name: run.name })}
                  fraction={isAtWork(run) ? fractionOf(run) : (run.fraction ?? 0)}
                  tone={isAtWork(run) ? 'active' : 'warn'}
                  size="thin"
                />
              </span>
            </Place>
          </li>
        ))}
      </ul>
    </>
  );
}

function Place({ to, current, children }: { to: Route; current: boolean; children: React.ReactNode }) {
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a
      href={hashOfRoute(to)}
      className={classes.place}
      aria-current={current ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}

function Logo() {
  return (
    <svg width="30" height="30" viewBox="0 0 64 64" aria-hidden>
      <rect width="64" height="64" rx="14" fill="#14627a" />
      <g fill="none" stroke="#fff" strokeWidth="4" strokeLinejoin="round">
        <path d="M32 12l17.3 10v20L32 52 14.700 42V22z" />
        <path d="M23 26c6 0 12 12 18 12M23 38c6 0 12-12 18-12" strokeLinecap="round" stroke="#ffb454" />
      </g>
    </svg>
  );
}
