import { app, type BrowserWindow, crashReporter, dialog, nativeTheme, powerMonitor, session } from 'electron';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { asAppError } from '../contract/errors.ts';
import {
  type AppPaths,
  engineBase,
  openService,
  resolveAppPaths,
  type Service,
  serviceRouter,
  type WindowContext,
} from '../engine/index.ts';
import { registerAppScheme, serveApp } from './appProtocol.ts';
import { desktopActions } from './desktopActions.ts';
import { GrantedPaths } from './grantedPaths.ts';
import { openMainWindow } from './mainWindow.ts';
import { setMenu } from './menu.ts';
import { PortBroker } from './portBroker.ts';
import { Quitting } from './quitting.ts';
import { signalRuns } from './systemSignals.ts';
import { guardAllPages } from './webGuard.ts';

/** Must be that of the .desktop file, by which Linux shows progress in the taskbar. */
const DESKTOP_NAME = 'virnucpro-desktop.desktop';
const WINDOWS_APP_ID = 'org.virnucpro.desktop';

// Everything up to `whenReady` must have happened before Electron is ready, so nothing here waits.
const found = resolveAppPaths({
  startFolder: import.meta.dirname,
  ...(app.isPackaged ? { resourcesPath: process.resourcesPath } : {}),
});
if (!found.ok) {
  dialog.showErrorBox(found.error.title, `${found.error.cause}\n${found.error.nextStep}`);
  app.exit(1);
} else {
  begin(found.value);
}

function begin(paths: AppPaths): void {
  app.setPath('userData', join(paths.dataDir, 'electron'));
  app.setAppUserModelId(WINDOWS_APP_ID);
  app.setDesktopName(DESKTOP_NAME);
  app.setAboutPanelOptions({ applicationName: 'VirNucPro Desktop', applicationVersion: app.getVersion() });
  if (!app.requestSingleInstanceLock()) {
    app.quit();
    return;
  }
  crashReporter.start({ uploadToServer: false });
  app.enableSandbox();
  registerAppScheme();
  guardAllPages();
  app
    .whenReady()
    .then(() => run(paths))
    .catch((reason: unknown) => {
      const { title, cause, nextStep } = asAppError(reason);
      dialog.showErrorBox(title, `${cause}\n${nextStep}`);
      app.exit(1);
    });
}

async function run(paths: AppPaths): Promise<void> {
  const service = await openService(
    engineBase({ appVersion: app.getVersion(), paths, storeHost: storeHost() }),
    {
      interpreter: process.env['VIRNUCPRO_PYTHON'] || undefined,
      resultsFolder: join(app.getPath('documents'), 'VirNucPro results'),
    },
  );
  serveApp(session.defaultSession, pageFolder());
  setMenu();
  followTheme(service);

  const broker = new PortBroker(serviceRouter(service));
  let window: BrowserWindow | undefined;
  const current = (): BrowserWindow | undefined => (window?.isDestroyed() === false ? window : undefined);
  const quitting = new Quitting(service, current);
  const show = (): void => {
    if (!quitting.mayOpenWindow) return;
    const there = current();
    if (there) {
      if (there.isMinimized()) there.restore();
      there.show();
      there.focus();
    } else {
      // Shows itself as soon as it is painted.
      window = open();
    }
  };
  const open = (): BrowserWindow => {
    const opened = openMainWindow({
      preload: join(import.meta.dirname, '..', 'preload', 'preload.cjs'),
      icon: iconFile(paths),
    });
    const granted = new GrantedPaths();
    const context: WindowContext = {
      shell: 'electron',
      paths: granted,
      desktop: desktopActions(opened, granted, homedir()),
    };
    broker.add({
      contents: opened.webContents,
      context,
      given: (path) => {
        granted.add([path]);
      },
    });
    // Closing the only window is the wish to quit; on macOS programs stay without one.
    opened.on('close', (event) => {
      if (process.platform === 'darwin' || quitting.mayGo()) return;
      event.preventDefault();
    });
    opened.on('session-end', () => {
      quitting.systemEnds();
    });
    return opened;
  };

  const stopSignals = signalRuns(service, current, show);
  app.on('will-quit', stopSignals);
  app.on('second-instance', show);
  app.on('activate', show);
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  app.on('before-quit', (event) => {
    if (!quitting.mayGo()) event.preventDefault();
  });
  powerMonitor.on('shutdown', () => {
    quitting.systemEnds();
  });
  show();
}

function followTheme(service: Service): void {
  nativeTheme.themeSource = service.settings.current.theme;
  service.settings.subscribe(({ theme }) => {
    nativeTheme.themeSource = theme;
  });
}

/** The store's threads start from a real file: a thread can't be started from within the archive of a packaged app. */
function storeHost(): URL {
  const url = new URL('./storeHost.mjs', import.meta.url);
  return new URL(url.href.replace('/app.asar/', '/app.asar.unpacked/'));
}

function pageFolder(): string {
  return join(import.meta.dirname, '..', 'renderer');
}

/** Beside the program's resources when packaged, among the packaging files in a checkout. */
function iconFile({ root }: AppPaths): string | undefined {
  return [join(root, 'icon.png'), join(root, 'build', 'icon.png')].find((file) => existsSync(file));
}
