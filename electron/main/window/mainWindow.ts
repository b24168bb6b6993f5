import { app, BrowserWindow, nativeTheme, screen } from 'electron';
import { APP_PAGE, PAGE_PREFERENCES } from './pagePolicy.ts';

/** Equal to the page's own backgrounds, so that nothing flashes before it is painted. */
const BACKGROUND = { dark: '#1a1b1e', light: '#ffffff' } as const;

const USUAL_SIZE = { width: 1440, height: 900 } as const;

interface MainWindowFiles {
  preload: string;
  icon: string | undefined;
}

export function openMainWindow({ preload, icon }: MainWindowFiles): BrowserWindow {
  const { width, height } = screen.getPrimaryDisplay().workAreaSize;
  const window = new BrowserWindow({
    // By this name Electron finds the size and the place that the window had last.
    name: 'main',
    windowStatePersistence: true,
    width: Math.min(width, USUAL_SIZE.width),
    height: Math.min(height, USUAL_SIZE.height),
    minWidth: 900,
    minHeight: 600,
    show: false,
    autoHideMenuBar: true,
    backgroundColor: nativeTheme.shouldUseDarkColors ? BACKGROUND.dark : BACKGROUND.light,
    ...(icon === undefined ? {} : { icon }),
    webPreferences: {
      preload,
      ...PAGE_PREFERENCES,
      devTools: !app.isPackaged,
    },
  });
  window.once('ready-to-show', () => {
    window.show();
  });
  // Failures are reported by events (windowKeeper.ts).
  window.loadURL(APP_PAGE).catch(() => undefined);
  return window;
}
