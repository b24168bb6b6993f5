import { app, BrowserWindow, nativeTheme, screen } from 'electron';
import { join } from 'node:path';
import { APP_PAGE, PAGE_PREFERENCES } from './pagePolicy.ts';
import { fittingBounds, SMALLEST_SIZE } from './windowBounds.ts';
import { readWindowBounds, writeWindowBounds } from './windowFile.ts';

/** As the page's own backgrounds, so that nothing flashes before it is painted. */
const BACKGROUND = { dark: '#1a1b1e', light: '#ffffff' } as const;

export interface MainWindowFiles {
  preload: string;
  icon: string | undefined;
}

export function openMainWindow({ preload, icon }: MainWindowFiles): BrowserWindow {
  const boundsFile = join(app.getPath('userData'), 'window.json');
  const window = new BrowserWindow({
    ...fittingBounds(
      readWindowBounds(boundsFile),
      screen.getAllDisplays().map(({ workArea }) => workArea),
    ),
    minWidth: SMALLEST_SIZE.width,
    minHeight: SMALLEST_SIZE.height,
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
  window.on('close', () => {
    // Those it has when it is neither maximised, minimised, nor in full screen.
    writeWindowBounds(boundsFile, window.getNormalBounds());
  });
  // What goes wrong is reported by events (windowHealth.ts).
  window.loadURL(APP_PAGE).catch(() => undefined);
  return window;
}
