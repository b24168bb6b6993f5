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
import { chooseFolder, choosePaths } from '../state/pathChooser.ts';
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
  readonly hint?: string | undefined;
  /** Keys in the format of Mantine's useHotkeys. */
  readonly keys?: string | undefined;
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

const command = (
  group: string,
  id: string,
  label: string,
  act: () => unknown,
  more: Partial<Command> = {},
): Command => ({ id, group, label, run: () => void Promise.resolve(act()).catch(sayError), ...more });

/** Everything that can be done on the current screen, for the command palette and its keys. */
export function commandsFor(route: Route, runs: readonly RunSummary[], seen: Seen, texts: Texts): Command[] {
  const { t } = texts;
  const work = t('palette.do');
  const place = (screen: keyof typeof PLACE_KEYS | 'start' | 'computers', keys?: string) =>
    command(t('palette.go'), `go-${screen}`, t(`nav.${screen}`), () => go({ screen }), { keys });
  const here = route.screen === 'run' ? runs.find(({ runId }) => runId === route.runId) : undefined;
  return [
    ...PLACES.map((screen) => place(screen, PLACE_KEYS[screen])),
    place('start'),
    ...(seen.hasComputers ? [place('computers')] : []),
    ...(here ? commandsOfRun(here, seen, texts) : []),
    command(work, 'add-files', t('newRun.chooseFiles'), () => addChosen('files'), { keys: 'alt+O' }),
    command(work, 'add-folder', t('newRun.chooseFolder'), () => addChosen('folder')),
    command(work, 'start-over', `${t('nav.new-run')}: ${t('newRun.clear')}`, () => {
      startOver();
      go({ screen: 'new-run' });
    }),
    command(work, 'example', t('newRun.runExample'), () => runExample()),
    command(work, 'open-run', t('history.open'), async () => {
      const folder = await chooseFolder('run');
      if (folder !== null) goToRun((await engine.runs.open({ folder })).runId);
    }),
    ...(runs.length > 0 ? [command(work, 'disk', t('disk.title'), openDiskDialog)] : []),
    ...commandsOfComputer(seen, texts),
    ...(['light', 'dark', 'system'] as const).map((theme) => {
      const label = `${t('settings.theme')}: ${t(`settings.theme.${theme}`)}`;
      return command(work, `theme-${theme}`, label, () => changeSettings({ theme }));
    }),
    ...(['en', 'de'] as const).map((language) => {
      const label = language === 'en' ? 'English' : 'Deutsch';
      return command(work, `language-${language}`, label, () => changeSettings({ language }));
    }),
    ...GUIDE_PAGES.map((page) =>
      command(t('guide.title'), `guide-${page}`, guidePage(page).title, () => go({ screen: 'guide', page })),
    ),
    ...runs.map((run) => {
      const show = () => goToRun(run.runId, run.state.phase === 'done' ? 'results' : 'progress');
      return command(t('nav.runs'), run.runId, run.name, show, { hint: t(`runState.${runStatus(run)}`) });
    }),
  ];
}

function addChosen(kind: 'files' | 'folder'): Promise<void> {
  go({ screen: 'new-run' });
  return choosePaths(kind === 'files' ? { kind, purpose: 'sequences' } : { kind, purpose: 'inputs' }).then(
    addPaths,
  );
}

function commandsOfComputer({ lacksPython }: Seen, { t }: Texts): Command[] {
  const group = t('nav.computer');
  return [
    ...(lacksPython
      ? [command(group, 'set-up', t('start.setUp.title'), setUpAndShow)]
      : [
          command(group, 'pack', t('offline.make'), openPacking),
          command(group, 'import-files', t('models.importFiles'), () => importWeights('files')),
          command(group, 'import-folder', t('models.importFolder'), () => importWeights('folder')),
        ]),
    command(group, 'set-up-offline', t('offline.use'), chooseOfflineFolder),
    command(group, 'check-again', t('computer.again'), () => {
      go({ screen: 'computer' });
      askAgain(queries.computer.check.key());
    }),
    command(group, 'diagnostics', t('computer.diagnostics'), openDiagnostics),
  ];
}

/** The list of models shows the dialog that follows. */
function importWeights(kind: 'files' | 'folder'): Promise<void> {
  go({ screen: 'models' });
  return choosePaths({ kind, purpose: 'weights' }).then(openImport);
}

function commandsOfRun(run: RunSummary, seen: Seen, texts: Texts): Command[] {
  const { t } = texts;
  const { runId, name: group } = run;
  return [
    ...(['progress', 'files', 'results'] as const).map((tab, index) =>
      command(group, `tab-${tab}`, t(`run.tab.${tab}`), () => goToRun(runId, tab), {
        keys: `alt+shift+${index + 1}`,
      }),
    ),
    ...runActions(run, texts, { isRead: seen.isRead }).map((action) => ({ group, ...action })),
    ...(isAtWork(run)
      ? seen.devices.map(({ isOut, ...device }) => {
          const label = `${t(isOut ? 'device.include' : 'device.exclude')}: ${deviceTitle(device, t)}`;
          const change = { runId, device: device.id, included: isOut };
          return command(group, `device-${device.id}`, label, () => engine.runs.includeDevice(change));
        })
      : []),
    ...(isAtWork(run) && useSettings.getState().info?.shell === 'browser' && canAskForNotifications()
      ? [command(group, 'notify', t('run.notify'), () => askForNotifications(t))]
      : []),
  ];
}
