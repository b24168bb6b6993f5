/* global __dirname, process, URL */
/**
 * The main module of an app for Electron 9, whose Node is too old for main.mjs: serves the same scheme with the same policy, loads
 * the packed preload script sandboxed, and prints what the page found. Its settings are in facts.json beside it.
 */
const { app, BrowserWindow, ipcMain, protocol } = require('electron');
const { readFileSync } = require('fs');
const { join } = require('path');
const { Readable } = require('stream');

const { scheme, page, headers, webPreferences } = JSON.parse(
  readFileSync(join(__dirname, 'facts.json'), 'utf8'),
);
const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript' };
const seen = {
  electron: process.versions.electron,
  archive: __dirname.endsWith('.asar'),
  connected: 0,
};

protocol.registerSchemesAsPrivileged([scheme]);
app.whenReady().then(async () => {
  protocol.registerStreamProtocol(scheme.scheme, (request, answer) => {
    const name = new URL(request.url).pathname.slice(1) || 'index.html';
    let content;
    try {
      content = readFileSync(join(__dirname, 'page', name));
    } catch {
      answer({ statusCode: 404, headers, data: Readable.from([]) });
      return;
    }
    answer({
      headers: { ...headers, 'content-type': TYPES[name.split('.').pop()] },
      data: Readable.from([content]),
    });
  });
  ipcMain.handle('virnucpro:connect', () => void (seen.connected += 1));
  const window = new BrowserWindow({
    show: false,
    webPreferences: { ...webPreferences, preload: join(__dirname, 'preload.cjs') },
  });
  window.webContents.on('preload-error', (_event, _file, error) => (seen.preloadError = String(error)));
  window.webContents.on('page-title-updated', (_event, title) => {
    if (!title.startsWith('{')) return;
    process.stdout.write(`FOUND ${JSON.stringify({ ...seen, page: JSON.parse(title) })}\n`);
    app.exit(0);
  });
  await window.loadURL(page);
});
