import {
  app,
  type BrowserWindow,
  crashReporter,
  Menu,
  nativeTheme,
  powerMonitor,
  session,
  shell,
  utilityProcess,
} from 'electron';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppFailure } from '../contract/errors.ts';
import {
  type AppPaths,
  engineBase,
  type ModuleProcess,
  openService,
  resolveAppPaths,
  type Service,
  serviceRouter,
  ShellLog,
  shellLogFile,
  temporaryFolder,
  type WindowContext,
} from '../engine/index.ts';
import { registerAppScheme, serveApp, guardAllPages } from './window/webGuard.ts';
import { desktopActions } from './window/desktopActions.ts';
import { GrantedPaths } from './window/grantedPaths.ts';
import { openMainWindow } from './window/mainWindow.ts';
import { menuItems } from './window/menu.ts';
import { PortBroker } from './window/portBroker.ts';
import { putOffQuitting, type QuitPutOff } from './quit/putOffQuitting.ts';
import { Quitting } from './quit/quitting.ts';
import { relaunch, SAFE_MODE_SWITCH, logShell, endAfter } from './trouble/shellLogging.ts';
import { pathsOutsideAppImage } from './trouble/appImage.ts';
import { SELF_CHECK_SWITCH, selfCheck } from './selfCheck.ts';
import { signalRuns } from './systemSignals.ts';
import { shellTexts, type ShellTexts } from './shellTexts.ts';
import { WindowKeeper } from './window/windowKeeper.ts';

const WINDOWS_APP_ID = 'org.virnucpro.desktop';

// Everything up to `whenReady` must have happened before Electron is ready, so nothing here waits.
const found = resolveAppPaths({
  startFolder: import.meta.dirname,
  // The environment must not choose what code a packaged app runs.
  ...(app.isPackaged
    ? { resourcesPath: process.resourcesPath, env: { ...process.env, VIRNUCPRO_HOME: undefined } }
    : {}),
});
// Windows of questions come and go before there is a main window.
let endsWithLastWindow = false;
app.on('window-all-closed', () => {
  if (endsWithLastWindow) app.quit();
});
if (found.ok) begin(found.value);
// Before it is ready, Electron tells nobody who started it from a menu.
else void app.whenReady().then(() => endAfter(new AppFailure(found.error)));

function begin(paths: AppPaths): void {
  const safeMode = process.argv.includes(SAFE_MODE_SWITCH);
  const userData = join(paths.dataDir, 'electron');
  // Electron refuses a folder that is not there. A disk that cannot be written is explained when the engine is opened.
  try {
    mkdirSync(userData, { recursive: true });
    app.setPath('userData', userData);
  } catch (reason) {
    process.stderr.write(`${String(reason)}\n`);
  }
  Object.assign(process.env, pathsOutsideAppImage(process.env));
  // Python writes compiled files beside its sources, which would break the signature of a packaged app.
  if (app.isPackaged) process.env['PYTHONPYCACHEPREFIX'] ??= join(paths.dataDir, 'pycache');
  app.setAppUserModelId(WINDOWS_APP_ID);
  app.setAboutPanelOptions({ applicationName: 'VirNucPro Desktop', applicationVersion: app.getVersion() });
  if (!app.requestSingleInstanceLock()) {
    app.quit();
    return;
  }
  const log = new ShellLog(shellLogFile(paths));
  logShell(log, safeMode);
  crashReporter.start({ uploadToServer: false });
  // Enabling it would undo --no-sandbox, without which Chromium does not start for root, as in containers.
  if (!app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox();
  if (safeMode) app.disableHardwareAcceleration();
  registerAppScheme();
  guardAllPages();
  const quitPutOff = putOffQuitting();
  app
    .whenReady()
    .then(() => run({ paths, log, safeMode, quitPutOff }))
    .catch((reason: unknown) => {
      quitPutOff.end();
      return endAfter(reason, log);
    });
}

interface Start {
  paths: AppPaths;
  log: ShellLog;
  safeMode: boolean;
  quitPutOff: QuitPutOff;
}

async function run({ paths, log, safeMode, quitPutOff }: Start): Promise<void> {
  const service = await openService(
    engineBase({ appVersion: app.getVersion(), paths, storeHost: storeHost(), startModule }),
    {
      interpreter: process.env['VIRNUCPRO_PYTHON'] || undefined,
      resultsFolder: join(app.getPath('documents'), 'VirNucPro results'),
      // Nor may the environment choose what code is installed on other computers.
      serverPackage: app.isPackaged ? undefined : process.env['VIRNUCPRO_SERVER_PACKAGE'] || undefined,
    },
  );
  serveApp(session.defaultSession, pageFolder());
  const texts = (): ShellTexts => shellTexts(service.settings.current.language);
  followSettings(service, () => {
    const showLog = () => void shell.openPath(log.file);
    Menu.setApplicationMenu(
      Menu.buildFromTemplate(menuItems(texts(), process.platform === 'darwin', showLog)),
    );
  });

  const broker = new PortBroker(serviceRouter(service), (computer) => service.others.tunnel(computer));
  const make = (): BrowserWindow => {
    const window = openMainWindow({
      preload: join(import.meta.dirname, '..', 'preload', 'preload.cjs'),
      icon: iconFile(paths),
    });
    const granted = new GrantedPaths();
    const context: WindowContext = {
      shell: 'electron',
      paths: granted,
      desktop: desktopActions({
        ...{ window, granted, texts, startFolder: homedir() },
        restart: () => {
          quitting.quitWith(relaunch);
        },
      }),
    };
    broker.add({
      contents: window.webContents,
      context,
      given: (path) => {
        granted.add([path]);
      },
    });
    // Closing the only window means quitting; on macOS programs keep running without one.
    window.on('close', (event) => {
      if (process.platform === 'darwin' || quitting.mayGo()) return;
      event.preventDefault();
    });
    // Windows asks first, and would wait for no database after that. It shows that it waits for this program, and goes on at its end.
    window.on('query-session-end', (event) => {
      event.preventDefault();
      quitting.systemEnds();
    });
    window.on('session-end', () => {
      quitting.systemEnds();
    });
    return window;
  };
  const keeper: WindowKeeper = new WindowKeeper({
    log,
    safeMode,
    texts,
    make,
    mayOpen: (): boolean => quitting.mayOpenWindow,
    restartInSafeMode: () => {
      quitting.quitWith(() => {
        relaunch(SAFE_MODE_SWITCH);
      });
    },
  });
  const quitting: Quitting = new Quitting(service, keeper.current, texts);

  const stopSignals = signalRuns(service, { window: keeper.current, show: keeper.show, texts, log });
  app.on('will-quit', stopSignals);
  app.on('second-instance', keeper.show);
  app.on('activate', keeper.show);
  endsWithLastWindow = process.platform !== 'darwin';
  app.on('before-quit', (event) => {
    if (!quitting.mayGo()) event.preventDefault();
  });
  powerMonitor.on('shutdown', (event?: { preventDefault: () => void }) => {
    // Asks the system to wait until this has ended.
    event?.preventDefault();
    quitting.systemEnds();
  });
  // These signals come when the desktop logs off or a terminal closes, so nobody may be there to answer. They
  // are handled once Electron is ready, which would otherwise replace these handlers with its own.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      quitting.systemEnds();
    });
  }
  if (quitPutOff.end().wasWanted) {
    app.quit();
    return;
  }
  keeper.show();
  log.write('info', 'Open.');
  const window = keeper.current();
  if (window && process.argv.includes(SELF_CHECK_SWITCH)) await selfCheck({ service, window, log });
}

/** The menu is in the language of the window. */
function followSettings(service: Service, showMenu: () => void): void {
  const follow = (): void => {
    nativeTheme.themeSource = service.settings.current.theme;
    showMenu();
  };
  follow();
  service.settings.subscribe(follow);
}

/**
 * The store's threads start from a real file: a thread can't be started from the archive of a packaged app.
 */
function storeHost(): URL {
  const url = new URL('./storeHost.mjs', import.meta.url);
  return new URL(url.href.replace('/app.asar/', '/app.asar.unpacked/'));
}

/** The packed app does not run as Node (`runAsNode`), so Electron starts the processes of queries. */
function startModule(module: URL, temporary: string): ModuleProcess {
  const child = utilityProcess.fork(fileURLToPath(module), [], {
    env: { ...process.env, ...temporaryFolder(temporary) },
    stdio: 'ignore',
    serviceName: 'VirNucPro query',
  });
  return {
    send: (task) => {
      child.postMessage(task);
    },
    onReply: (listener) => void child.on('message', listener),
    onExit: (listener) => void child.once('exit', listener),
    kill: () => {
      // Electron's own `kill` only asks a process to end. There is no number before it has started, nor after
      // its end.
      if (child.pid === undefined) child.kill();
      else process.kill(child.pid, 'SIGKILL');
    },
  };
}

function pageFolder(): string {
  return join(import.meta.dirname, '..', 'renderer');
}

/** The icon is beside the program's resources when packaged, and among the packaging files in a checkout. */
function iconFile({ root }: AppPaths): string | undefined {
  return [join(root, 'icon.png'), join(root, 'build', 'icon.png')].find((file) => existsSync(file));
}
