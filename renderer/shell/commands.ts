import { isAtWork, type RunSummary } from '../../electron/contract/index.ts';
import type { Texts } from '../i18n/index.ts';
import { guidePage } from '../screens/guide/pages.ts';
import { engine, queries } from '../state/connection.ts';
import { deviceTitle, type DeviceNumber } from '../state/runs/deviceLabels.ts';
import { runExample, setUpAndShow } from '../state/computer/environment.ts';
import { chooseOfflineFolder, openPacking } from '../state/computer/offline.ts';
import { openImport } from '../state/computer/weights.ts';
import { GUIDE_PAGES } from '../state/guidePages.ts';
import { go, goToRun, type Route } from '../state/navigation.ts';
import { addPaths, startOver } from '../state/newRun/store.ts';
import { chooseFiles, chooseFolder, choosePaths } from '../state/pathChooser.ts';
import { askAgain } from '../state/queryClient.ts';
import { openDiagnostics, openDiskDialog } from '../state/runs/runDialog.ts';
import { askForNotifications, canAskForNotifications } from '../state/runs/runEnds.ts';
import { runActions } from '../components/runActions.tsx';
import { runStatus } from '../state/runs/runs.ts';
import { sayError } from '../state/say.ts';
import { changeSettings, useSettings } from '../state/settings.ts';

export interface Command {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly hint?: string;
  /** Keys in the format of Mantine's useHotkeys. */
  readonly keys?: string;
  readonly run: () => void;
}

/** Further state that decides which commands exist. */
export interface Seen {
  /** Python is not set up, or is damaged. */
  readonly lacksPython: boolean;
  /** Whether there are other computers, which only the desktop app has. */
  readonly hasComputers: boolean;
  /** Whether all input of the run on screen has been read. */
  readonly isRead: boolean;
  /** The devices of the run on screen. */
  readonly devices: readonly (DeviceNumber & { readonly isOut: boolean })[];
}

const PLACE_KEYS = {
  'new-run': 'alt+1',
  runs: 'alt+2',
  models: 'alt+3',
  computer: 'alt+4',
  settings: 'alt+5',
  help: 'alt+6',
} as const;
const PLACES = Object.keys(PLACE_KEYS) as (keyof typeof PLACE_KEYS)[];

/** Everything that can be done on the current screen, for the command palette and its keys. */
export function commandsFor(route: Route, runs: readonly RunSummary[], seen: Seen, texts: Texts): Command[] {
  const { t } = texts;
  const commands: Command[] = PLACES.map((screen) => ({
    id: `go-${screen}`,
    group: t('palette.go'),
    label: t(`nav.${screen}`),
    keys: PLACE_KEYS[screen],
    run: () => go({ screen }),
  }));
  commands.push({
    id: 'go-start',
    group: t('palette.go'),
    label: t('nav.start'),
    run: () => go({ screen: 'start' }),
  });
  if (seen.hasComputers)
    commands.push({
      id: 'go-computers',
      group: t('palette.go'),
      label: t('nav.computers'),
      run: () => go({ screen: 'computers' }),
    });
  const here = route.screen === 'run' ? runs.find(({ runId }) => runId === route.runId) : undefined;
  if (here) commands.push(...commandsOfRun(here, seen, texts));
  commands.push(
    {
      id: 'add-files',
      group: t('palette.do'),
      label: t('newRun.chooseFiles'),
      keys: 'alt+O',
      run: () => {
        go({ screen: 'new-run' });
        attempt(chooseFiles('sequences').then(addPaths));
      },
    },
    {
      id: 'add-folder',
      group: t('palette.do'),
      label: t('newRun.chooseFolder'),
      run: () => {
        go({ screen: 'new-run' });
        attempt(choosePaths({ kind: 'folder', purpose: 'inputs' }).then(addPaths));
      },
    },
    {
      id: 'start-over',
      group: t('palette.do'),
      label: `${t('nav.new-run')}: ${t('newRun.clear')}`,
      run: () => {
        startOver();
        go({ screen: 'new-run' });
      },
    },
    {
      id: 'example',
      group: t('palette.do'),
      label: t('newRun.runExample'),
      run: () => attempt(runExample()),
    },
    {
      id: 'open-run',
      group: t('palette.do'),
      label: t('history.open'),
      run: () => {
        const open = async () => {
          const folder = await chooseFolder('run');
          if (folder !== null) goToRun((await engine.runs.open({ folder })).runId);
        };
        attempt(open());
      },
    },
    ...(runs.length > 0
      ? [{ id: 'disk', group: t('palette.do'), label: t('disk.title'), run: openDiskDialog }]
      : []),
    ...commandsOfComputer(seen, texts),
    ...(['light', 'dark', 'system'] as const).map((theme) => ({
      id: `theme-${theme}`,
      group: t('palette.do'),
      label: `${t('settings.theme')}: ${t(`settings.theme.${theme}`)}`,
      run: () => attempt(changeSettings({ theme })),
    })),
    ...(['en', 'de'] as const).map((language) => ({
      id: `language-${language}`,
      group: t('palette.do'),
      label: language === 'en' ? 'English' : 'Deutsch',
      run: () => attempt(changeSettings({ language })),
    })),
    ...GUIDE_PAGES.map((page) => ({
      id: `guide-${page}`,
      group: t('guide.title'),
      label: guidePage(page).title,
      run: () => go({ screen: 'guide', page }),
    })),
    ...runs.map((run) => ({
      id: run.runId,
      group: t('nav.runs'),
      label: run.name,
      hint: t(`runState.${runStatus(run)}`),
      run: () => goToRun(run.runId, run.state.phase === 'done' ? 'results' : 'progress'),
    })),
  );
  return commands;
}

function commandsOfComputer({ lacksPython }: Seen, { t }: Texts): Command[] {
  const group = t('nav.computer');
  return [
    ...(lacksPython
      ? [{ id: 'set-up', group, label: t('start.setUp.title'), run: () => attempt(setUpAndShow()) }]
      : [
          { id: 'pack', group, label: t('offline.make'), run: openPacking },
          {
            id: 'import-files',
            group,
            label: t('models.importFiles'),
            run: () => importWeights('files'),
          },
          {
            id: 'import-folder',
            group,
            label: t('models.importFolder'),
            run: () => importWeights('folder'),
          },
        ]),
    {
      id: 'set-up-offline',
      group,
      label: t('offline.use'),
      run: () => attempt(chooseOfflineFolder()),
    },
    {
      id: 'check-again',
      group,
      label: t('computer.again'),
      run: () => {
        go({ screen: 'computer' });
        askAgain(queries.computer.check.key());
      },
    },
    { id: 'diagnostics', group, label: t('computer.diagnostics'), run: openDiagnostics },
  ];
}

/** The list of models shows the dialog that follows. */
function importWeights(kind: 'files' | 'folder'): void {
  go({ screen: 'models' });
  attempt(choosePaths({ kind, purpose: 'weights' }).then(openImport));
}

function commandsOfRun(run: RunSummary, seen: Seen, texts: Texts): Command[] {
  const { t } = texts;
  const { runId } = run;
  const group = run.name;
  const tabs: Command[] = (['progress', 'files', 'results'] as const).map((tab, index) => ({
    id: `tab-${tab}`,
    group,
    label: t(`run.tab.${tab}`),
    keys: `alt+shift+${index + 1}`,
    run: () => goToRun(runId, tab),
  }));
  return [
    ...tabs,
    ...runActions(run, texts, { isRead: seen.isRead }).map(({ id, label, keys, run: act }) => ({
      id,
      group,
      label,
      ...(keys === undefined ? {} : { keys }),
      run: act,
    })),
    ...(isAtWork(run)
      ? seen.devices.map((device) => ({
          id: `device-${device.id}`,
          group,
          label: `${t(device.isOut ? 'device.include' : 'device.exclude')}: ${deviceTitle(device, t)}`,
          run: () => attempt(engine.runs.includeDevice({ runId, device: device.id, included: device.isOut })),
        }))
      : []),
    ...(isAtWork(run) && useSettings.getState().info?.shell === 'browser' && canAskForNotifications()
      ? [{ id: 'notify', group, label: t('run.notify'), run: () => attempt(askForNotifications(t)) }]
      : []),
  ];
}

function attempt(work: Promise<unknown>): void {
  work.catch(sayError);
}
