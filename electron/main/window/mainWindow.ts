import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { app, BrowserWindow, nativeTheme, screen, Menu, shell } from 'electron';
import { join } from 'node:path';
import { fittingBounds, type Rectangle, SMALLEST_SIZE } from './windowBounds.ts';
import type { ShellTexts } from '../shellTexts.ts';
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
export function setMenu(logFile: string, t: ShellTexts): void {
  const isMac = process.platform === 'darwin';
  const separator = { type: 'separator' } as const;
  Menu.setApplicationMenu(
    Menu.buildFromTemplate([
      ...(isMac ? [{ role: 'appMenu' as const }] : []),
      {
        label: t('shell.menu.file'),
        submenu: [
          isMac ? { role: 'close', label: t('shell.menu.close') } : { role: 'quit', label: t('shell.quit') },
        ],
      },
      {
        label: t('shell.menu.edit'),
        submenu: [
          { role: 'undo', label: t('shell.menu.undo') },
          { role: 'redo', label: t('shell.menu.redo') },
          separator,
          { role: 'cut', label: t('shell.menu.cut') },
          { role: 'copy', label: t('shell.menu.copy') },
          { role: 'paste', label: t('shell.menu.paste') },
          { role: 'selectAll', label: t('shell.menu.selectAll') },
        ],
      },
      {
        label: t('shell.menu.view'),
        submenu: [
          { role: 'reload', label: t('shell.menu.reload') },
          separator,
          { role: 'resetZoom', label: t('shell.menu.resetZoom') },
          { role: 'zoomIn', label: t('shell.menu.zoomIn') },
          { role: 'zoomOut', label: t('shell.menu.zoomOut') },
          { role: 'togglefullscreen', label: t('shell.menu.fullScreen') },
        ],
      },
      {
        role: 'window',
        label: t('shell.menu.window'),
        submenu: [
          { role: 'minimize', label: t('shell.menu.minimize') },
          { role: 'close', label: t('shell.menu.close') },
        ],
      },
      {
        role: 'help',
        label: t('shell.menu.help'),
        submenu: [
          { label: t('shell.menu.log'), click: () => void shell.openPath(logFile) },
          ...(isMac ? [] : [{ role: 'about' as const, label: t('shell.menu.about') }]),
        ],
      },
    ]),
  );
}
