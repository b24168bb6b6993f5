import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { app, BrowserWindow, nativeTheme, screen, Menu, shell } from 'electron';
import { join } from 'node:path';
import { fittingBounds, type Rectangle, SMALLEST_SIZE } from './windowBounds.ts';
import type { Words } from '../words.ts';
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

/**
 * Contains only what the system expects: quitting, editing, zoom, windows, help. The program's own actions
 * are in its window.
 */
export function setMenu(logFile: string, { menu }: Words): void {
  const isMac = process.platform === 'darwin';
  const separator = { type: 'separator' } as const;
  Menu.setApplicationMenu(
    Menu.buildFromTemplate([
      ...(isMac ? [{ role: 'appMenu' as const }] : []),
      {
        label: menu.file,
        submenu: [isMac ? { role: 'close', label: menu.close } : { role: 'quit', label: menu.quit }],
      },
      {
        label: menu.edit,
        submenu: [
          { role: 'undo', label: menu.undo },
          { role: 'redo', label: menu.redo },
          separator,
          { role: 'cut', label: menu.cut },
          { role: 'copy', label: menu.copy },
          { role: 'paste', label: menu.paste },
          { role: 'selectAll', label: menu.selectAll },
        ],
      },
      {
        label: menu.view,
        submenu: [
          { role: 'reload', label: menu.reload },
          separator,
          { role: 'resetZoom', label: menu.resetZoom },
          { role: 'zoomIn', label: menu.zoomIn },
          { role: 'zoomOut', label: menu.zoomOut },
          { role: 'togglefullscreen', label: menu.fullScreen },
        ],
      },
      {
        role: 'window',
        label: menu.window,
        submenu: [
          { role: 'minimize', label: menu.minimize },
          { role: 'close', label: menu.close },
        ],
      },
      {
        role: 'help',
        label: menu.help,
        submenu: [
          { label: menu.log, click: () => void shell.openPath(logFile) },
          ...(isMac ? [] : [{ role: 'about' as const, label: menu.about }]),
        ],
      },
    ]),
  );
}
