/** The exports of `import ... from 'electron'` in the stand-in's main process. */
export { app } from './app.ts';
export { BrowserWindow } from './browserWindow.ts';
export {
  clipboard,
  crashReporter,
  dialog,
  Menu,
  nativeTheme,
  Notification,
  powerMonitor,
  powerSaveBlocker,
  screen,
  shell,
} from './desktop.ts';
export { MessageChannelMain } from './messagePorts.ts';
export { protocol, session } from './sessions.ts';
export { utilityProcess } from './utilityProcess.ts';
export { ipcMain } from './webContents.ts';
