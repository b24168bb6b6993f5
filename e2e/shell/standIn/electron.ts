/** The exports of `import ... from 'electron'` in the stand-in's main process, with what the desktop gives. */
import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { BrowserWindow } from './window.ts';

export { app } from './app.ts';
export { MessageChannelMain } from '../../../electron/main/window/testing/messageChannelMain.ts';
export { BrowserWindow, ipcMain, protocol, session } from './window.ts';

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

/** What a process of Electron's finds as `process.parentPort`. */
const PARENT_PORT = `process.parentPort = {
  postMessage: (message) => process.send(message),
  once: (name, listener) => process.once(name, (data) => listener({ data })),
}`;
export const utilityProcess = {
  fork: (module: string, args: readonly string[], { env }: { env: NodeJS.ProcessEnv }) => {
    const child = fork(module, args, {
      ...{ env, serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
      execArgv: ['--import', `data:text/javascript,${encodeURIComponent(PARENT_PORT)}`],
    });
    child.once('exit', () => Object.assign(child, { pid: undefined }));
    return Object.assign(child, { postMessage: (task: object) => child.send(task, () => undefined) });
  },
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
export const screen = { getPrimaryDisplay: () => ({ workAreaSize: { width: 1440, height: 900 } }) };
export const crashReporter = { start: () => undefined };
