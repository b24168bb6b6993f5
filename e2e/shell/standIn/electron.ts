/** The exports of `import ... from 'electron'` in the stand-in's main process, with what the desktop gives. */
import { EventEmitter } from 'node:events';
import { BrowserWindow } from './window.ts';

export { app } from './app.ts';
export { utilityProcess } from './utilityProcess.ts';
export { BrowserWindow, ipcMain, MessageChannelMain, protocol, session } from './window.ts';

/** A test replaces these functions to answer as the user; otherwise every dialog is dismissed. */
export const dialog = {
  showMessageBox: (parent: unknown, { cancelId }: { cancelId: number }) => {
    // On macOS the engine would stand still until somebody answers.
    if (!(parent instanceof BrowserWindow && parent.isVisible()))
      throw new Error('A question without a window that can be seen');
    return Promise.resolve({ response: cancelId, checkboxChecked: false });
  },
  showOpenDialog: () => Promise.resolve({ canceled: true, filePaths: [] as string[] }),
  showSaveDialog: () => Promise.resolve({ canceled: true, filePath: '' }),
};

export const Menu = { buildFromTemplate: (items: object[]) => items, setApplicationMenu: () => undefined };

export class Notification extends EventEmitter {
  readonly title: string;

  constructor({ title }: { title: string }) {
    super();
    this.title = title;
  }
  static isSupported = () => true;
  show(): void {
    this.emit('show');
  }
}

export const powerMonitor = Object.assign(new EventEmitter(), { isOnBatteryPower: () => false });
export const powerSaveBlocker = { start: () => 1, stop: () => undefined };
export const clipboard = { writeText: () => Promise.resolve() };
export const shell = { openExternal: () => Promise.resolve(), openPath: () => Promise.resolve('') };
export const nativeTheme = { themeSource: 'system', shouldUseDarkColors: false };
export const screen = { getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1440, height: 900 } }] };
export const crashReporter = { start: () => undefined };
