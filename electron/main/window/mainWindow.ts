import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { app, BrowserWindow, nativeTheme, screen } from 'electron';
import { join } from 'node:path';
import { fittingBounds, type Rectangle, SMALLEST_SIZE } from './windowBounds.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { APP_PAGE, PAGE_PREFERENCES } from './pagePolicy.ts';

/** Equal to the page's own backgrounds, so that nothing flashes before it is painted. */
const BACKGROUND = { dark: '#1a1b1e', light: '#ffffff' } as const;

interface MainWindowFiles {
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
    // These are the bounds when it is neither maximised, minimised, nor in full screen.
    writeWindowBounds(boundsFile, window.getNormalBounds());
  });
  // Failures are reported by events (windowKeeper.ts).
  window.loadURL(APP_PAGE).catch(() => undefined);
  return window;
}

const boundsSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

/** The window's position when it was closed. A window opens even if the file is damaged. */
function readWindowBounds(file: string): Rectangle | undefined {
  try {
    return parseJson(boundsSchema, readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function writeWindowBounds(file: string, bounds: Rectangle): void {
  try {
    writeFileSync(file, JSON.stringify(bounds));
  } catch {
    // Without the file, the next window opens in the middle.
  }
}
