/**
 * A program for an old Electron with those parts of the shell that its API can run: the preload script, the ports between page and main
 * process, questions, starting again. Prints a line of JSON a finding. What is missing in that Electron is put in its place here.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, BrowserWindow, ipcMain, protocol, type WebContents } from 'electron';
import { askUser } from '../../electron/main/askUser.ts';
import { relaunch, SAFE_MODE_SWITCH } from '../../electron/main/trouble/shellLogging.ts';
import {
  APP_PAGE,
  APP_SCHEME,
  PAGE_PREFERENCES,
  SCHEME_PRIVILEGES,
} from '../../electron/main/window/pagePolicy.ts';
import { PortBroker } from '../../electron/main/window/portBroker.ts';

const RELOADS = 20;
const folder = process.env['OLD_ELECTRON_FOLDER'] ?? '';
const found = (what: string, value: unknown): void => {
  process.stdout.write(`FOUND ${JSON.stringify({ what, value })}\n`);
};
const until = async (holds: () => unknown): Promise<void> => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
};

mkdirSync(join(folder, 'userData'), { recursive: true });
app.setPath('userData', join(folder, 'userData'));
const isFirst = app.requestSingleInstanceLock();
if (!isFirst) app.quit();
protocol.registerSchemesAsPrivileged([{ scheme: APP_SCHEME, privileges: SCHEME_PRIVILEGES }]);
app.on('window-all-closed', () => undefined);
appendFileSync(join(folder, 'starts'), `${process.argv.slice(2).join(' ')}\n`);
if (isFirst && !process.argv.includes(SAFE_MODE_SWITCH)) {
  app
    .whenReady()
    .then(tryAll)
    .catch((reason: unknown) => {
      process.stderr.write(`FAILED ${reason instanceof Error ? reason.stack : String(reason)}\n`);
      app.exit(1);
    });
} else if (isFirst) app.quit();

/** Events of this Electron have neither the frame that sent them nor details of a navigation. */
function addNewerDetails(contents: WebContents): void {
  const handle = ipcMain.handle.bind(ipcMain);
  ipcMain.handle = (channel, listener) => {
    handle(channel, (event, ...args: unknown[]) => {
      const senderFrame = { url: event.sender.getURL(), parent: null };
      return listener(Object.assign(event, { senderFrame }), ...args) as unknown;
    });
  };
  contents.on('did-start-navigation', (event, _, isSameDocument, isMainFrame) => {
    Object.assign(event, { isSameDocument, isMainFrame });
  });
}

async function tryAll(): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- This Electron has no protocol.handle.
  protocol.registerBufferProtocol(APP_SCHEME, (_, answer) => {
    answer({ mimeType: 'text/html', data: readFileSync(join(__dirname, 'page.html')) });
  });
  const preload = join(__dirname, 'preload.js');
  const window = new BrowserWindow({ show: true, webPreferences: { ...PAGE_PREFERENCES, preload } });
  const { webContents } = window;
  const inPage = (code: string): Promise<unknown> => webContents.executeJavaScript(code);
  addNewerDetails(webContents);
  const tunnel = { port: Number(process.env['OLD_ELECTRON_ECHO']), server: { cookie: '' } };
  const broker = new PortBroker({} as never, () => tunnel as never);
  broker.add({ contents: webContents, context: {} as never, given: (path) => found('given path', path) });
  let order: string[] = [];
  webContents.on('did-navigate', () => order.push('navigated'));
  ipcMain.on('early', () => order.push('asked'));

  await window.loadURL(APP_PAGE);
  found(
    'page',
    await inPage(
      "[typeof require, typeof process, Object.keys(virnucpro).join(' '), location.origin].join(', ')",
    ),
  );
  await until(() => inPage("answer === 'echo'"));
  let early = 0;
  for (let reload = 0; reload < RELOADS; reload++) {
    order = [];
    await inPage("answer = 'old'");
    webContents.reload();
    await until(() => inPage("answer === 'echo'").catch(() => false));
    if (order.indexOf('asked') < order.indexOf('navigated')) early += 1;
    // A port that was taken for the old page's is closed by now.
    await inPage("answer = undefined; port.postMessage('echo')");
    await until(() => inPage("answer === 'echo'"));
  }
  found('reloads with a living port', RELOADS);
  found('reloads whose page asked before its navigation ended', early);
  found('made-up file', await inPage("virnucpro.pathForFile(new File(['x'], '/etc/passwd'))"));

  const heard = new Promise((resolve) => app.once('second-instance', resolve));
  const second = spawn(process.execPath, process.argv.slice(1), { stdio: 'ignore' });
  found('second start', await new Promise((resolve) => second.once('close', resolve)));
  await heard;

  window.hide();
  let ticks = 0;
  setInterval(() => (ticks += 1), 50);
  void askUser({ message: 'Test', detail: '', choices: [['OK', 'ok']], cancel: 'ok' });
  await until(() => ticks > 20);
  found(
    'windows above which a question stands',
    BrowserWindow.getAllWindows().filter((each) => each.isVisible()).length,
  );
  relaunch(SAFE_MODE_SWITCH);
}
