/**
 * Everything that a window gets besides the web platform: a way to the engine, and the path of a file that
 * the user dropped.
 * The script is sandboxed, so it is bundled into one CommonJS file and requires nothing but `electron`.
 */
import { contextBridge, ipcRenderer, webUtils } from 'electron';

/** The page's window: the page shares it with this script, but not its objects. */
declare const window: {
  postMessage: (message: unknown, targetOrigin: string, transfer: readonly unknown[]) => void;
};

ipcRenderer.on('virnucpro:port', (event, computer: unknown) => {
  // A port can't cross the context bridge; it can be posted to the page.
  window.postMessage({ type: 'virnucpro:port', computer }, '/', event.ports);
});

contextBridge.exposeInMainWorld('virnucpro', {
  /** Without a computer's id, connects to this program's own engine. */
  connect: (computer?: string) => ipcRenderer.invoke('virnucpro:connect', computer),
  pathForFile: (file: File) => {
    const path = webUtils.getPathForFile(file);
    // Sent from here, since a page must not be able to claim that the user gave it a path; waits until it has arrived.
    if (path !== '') ipcRenderer.sendSync('virnucpro:given-path', path);
    return path;
  },
});
