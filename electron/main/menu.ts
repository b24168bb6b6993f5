import { Menu, shell } from 'electron';

/**
 * Contains only what the system expects: quitting, editing, zoom, windows, help. The program's own actions
 * are in its window.
 */
export function setMenu(logFile: string): void {
  const isMac = process.platform === 'darwin';
  Menu.setApplicationMenu(
    Menu.buildFromTemplate([
      ...(isMac ? [{ role: 'appMenu' as const }] : []),
      // Contains Quit on systems without an app menu.
      { role: 'fileMenu' },
      { role: 'editMenu' },
      {
        label: 'View',
        submenu: [
          { role: 'reload' },
          { type: 'separator' },
          { role: 'resetZoom' },
          { role: 'zoomIn' },
          { role: 'zoomOut' },
          { role: 'togglefullscreen' },
        ],
      },
      { role: 'windowMenu' },
      {
        role: 'help',
        submenu: [
          { label: 'Show the Log', click: () => void shell.openPath(logFile) },
          ...(isMac ? [] : [{ role: 'about' as const }]),
        ],
      },
    ]),
  );
}
