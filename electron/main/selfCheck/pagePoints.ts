import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { app, type BrowserWindow } from 'electron';
import { expectThat, until, type Point } from './point.ts';

const RELOADS = 5;

const inPage = (window: BrowserWindow, code: string): Promise<unknown> =>
  window.webContents.executeJavaScript(code, true);

/** The page shows its navigation only once it has the engine's answers. */
const showsItself = (window: BrowserWindow) => async (): Promise<boolean> =>
  (await inPage(window, "document.querySelector('nav a') !== null").catch(() => false)) === true;

/** What the page gets and does not get. */
export const pagePoints: Point[] = [
  {
    what: 'The window is painted and has the answers of the engine',
    check: async ({ window }) => {
      await until(showsItself(window));
      await until(() => window.isVisible());
      return 'yes';
    },
  },
  {
    what: 'The page is in a sandbox',
    check: ({ window }) => {
      // Not among Electron's types.
      const contents = window.webContents as unknown as {
        getLastWebPreferences: () => Record<string, unknown>;
      };
      const { sandbox, contextIsolation, nodeIntegration } = contents.getLastWebPreferences();
      expectThat(
        sandbox === true && contextIsolation === true && nodeIntegration === false,
        JSON.stringify({ sandbox, contextIsolation, nodeIntegration }),
      );
      return app.commandLine.hasSwitch('no-sandbox')
        ? { skipped: 'the program was started with --no-sandbox' }
        : 'yes';
    },
  },
  {
    what: 'The page has no Node, and of this program two functions',
    check: async ({ window }) => {
      const found = await inPage(
        window,
        "[typeof require, typeof process, typeof module, ...Object.keys(window.virnucpro)].sort().join(' ')",
      );
      expectThat(found === 'connect pathForFile undefined undefined undefined', String(found));
      return 'connect, pathForFile';
    },
  },
  {
    what: 'The page has its own files with a policy, and no other file',
    check: async ({ window }) => {
      const found = await inPage(
        window,
        `Promise.all([
          ...['/theme.js', '/..%2fmain%2fmain.mjs', '/%2e%2e%2fmain/main.mjs', '/..%5cmain%5cmain.mjs', '/..%2f..%2fpackage.json', '/nothing.js']
            .map((path) => fetch(path).then(({ status }) => status)),
          fetch('/').then(({ headers }) => headers.get('content-security-policy').includes("script-src 'self'")),
        ]).then((all) => all.join(' '))`,
      );
      expectThat(found === '200 404 404 404 404 404 true', String(found));
      const ran = await inPage(
        window,
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' })); typeof window.ran",
      );
      expectThat(ran === 'undefined', 'a script in the page ran');
      return 'yes';
    },
  },
  {
    what: 'The page cannot leave, open windows, use devices or download',
    check: async ({ window }) => {
      await inPage(window, "void (location.href = 'https://example.org/')");
      const found = await inPage(
        window,
        `(async () => {
          const refused = async (ask) => ask().then(() => 'allowed', () => 'refused');
          document.body.append(Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob(['x'])), download: 'x' }));
          document.body.lastChild.click();
          document.body.lastChild.remove();
          return [
            window.open('https://example.org/') === null ? 'refused' : 'opened',
            await refused(() => navigator.mediaDevices.getUserMedia({ video: true })),
            await refused(() => navigator.mediaDevices.getDisplayMedia()),
            ...(await Promise.all(['geolocation', 'camera', 'midi', 'clipboard-read'].map((name) =>
              navigator.permissions.query({ name }).then(({ state }) => state)))),
          ].join(' ');
        })()`,
      );
      expectThat(found === 'refused refused refused denied denied denied denied', String(found));
      const url = window.webContents.getURL();
      expectThat(url.startsWith('app://virnucpro/'), `it is at ${url}`);
      return 'yes';
    },
  },
  {
    what: 'The page connects again after a reload',
    check: async ({ window }) => {
      for (let reload = 0; reload < RELOADS; reload++) {
        const started = Date.now();
        window.webContents.reload();
        const isNew = `performance.timeOrigin >= ${started} && document.querySelector('nav a') !== null`;
        await until(async () => (await inPage(window, isNew).catch(() => false)) === true);
      }
      return `${RELOADS} times`;
    },
  },
  {
    what: 'A dropped file has a path, and a made-up one has none',
    check: async ({ window }) => {
      const folder = mkdtempSync(join(tmpdir(), 'Größe β '));
      const file = join(folder, 'contigs 1.fasta');
      writeFileSync(file, '>a\nACGT\n');
      const { debugger: devtools } = window.webContents;
      try {
        expectThat(
          (await inPage(window, "virnucpro.pathForFile(new File(['x'], '/etc/passwd'))")) === '',
          'made up',
        );
        await inPage(
          window,
          `window.addEventListener('drop', (event) => {
            event.preventDefault();
            event.stopImmediatePropagation();
            window.droppedPath = virnucpro.pathForFile(event.dataTransfer.files[0]);
          }, { capture: true, once: true })`,
        );
        devtools.attach();
        const data = { items: [], files: [file], dragOperationsMask: 1 };
        for (const type of ['dragEnter', 'dragOver', 'drop'])
          await devtools.sendCommand('Input.dispatchDragEvent', { type, x: 500, y: 300, data });
        await until(async () => typeof (await inPage(window, 'window.droppedPath')) === 'string');
        const path = await inPage(window, 'window.droppedPath');
        expectThat(path === file, `it is ${String(path)}`);
        return 'yes';
      } finally {
        if (devtools.isAttached()) devtools.detach();
        rmSync(folder, { recursive: true });
      }
    },
  },
];
