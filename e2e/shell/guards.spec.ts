/** Tries out from within a page what a page must not be able to do. */
import { join } from 'node:path';
import { findChromiumWithScreen } from '../support/findChromium.ts';
import { writeSample } from '../support/inputs.ts';
import { drop, goTo } from '../support/window.ts';
import { expect, firstWindow, test } from './support/fixtures.ts';

test('a page can do only what it needs to', async ({ start, places }) => {
  // The headless-only Chromium grants no notifications.
  const app = await start({ env: { CHROMIUM_PATH: findChromiumWithScreen() } });
  const page = await firstWindow(app);

  await test.step('It has no Node, one global name of ours, and a policy; it cannot open anything or use a device', async () => {
    expect(await page.evaluate('typeof require + typeof process + typeof module')).toBe(
      'undefinedundefinedundefined',
    );
    expect(await page.evaluate('Object.keys(window.virnucpro).sort()')).toEqual(['connect', 'pathForFile']);
    const preferences = await app.evaluate(({ BrowserWindow }) => {
      const [window] = BrowserWindow.getAllWindows();
      return (
        window?.webContents as unknown as { getLastWebPreferences: () => object }
      ).getLastWebPreferences();
    });
    expect(preferences).toMatchObject({ sandbox: true, contextIsolation: true, nodeIntegration: false });

    const policy = await page.evaluate(
      "fetch('/').then((answer) => answer.headers.get('content-security-policy'))",
    );
    expect(policy).toContain("script-src 'self'");
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = true' }))",
    );
    expect(await page.evaluate('window.ran')).toBeUndefined();

    // The first path exists, which shows that the others are missing because of their location.
    const answers = await page.evaluate(`Promise.all(
      ['/theme.js', '/..%2fmain%2fmain.mjs', '/%2e%2e%2fmain/main.mjs', '/..%5cmain%5cmain.mjs', '/..%2f..%2fpackage.json', '/nothing.js']
        .map((path) => fetch(path).then((answer) => answer.status)))`);
    expect(answers).toEqual([200, 404, 404, 404, 404, 404]);

    for (const name of ['geolocation', 'camera', 'midi', 'clipboard-read']) {
      const state = await page.evaluate(
        `navigator.permissions.query({ name: '${name}' }).then(({ state }) => state)`,
      );
      expect(state, name).toBe('denied');
    }
    expect(await page.evaluate('Notification.permission')).toBe('granted');

    const opened = await app.evaluate(({ shell }) => {
      const urls: string[] = [];
      Object.assign(shell, { urls });
      shell.openExternal = (url) => {
        urls.push(url);
        return Promise.resolve();
      };
      return urls;
    });
    expect(opened).toEqual([]);
    for (const url of ['https://evil.example/', 'file:///etc/passwd', 'https://github.com/virnucpro']) {
      await page.evaluate(`void window.open(${JSON.stringify(url)})`);
    }
    await expect
      .poll(() => app.evaluate(({ shell }) => (shell as unknown as { urls: string[] }).urls))
      .toEqual(['https://github.com/virnucpro']);
    expect(await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1);
  });

  await test.step('Another page that has the preload script may not talk to the engine', async () => {
    const refusals = await app.evaluate(async ({ BrowserWindow }) => {
      const [first] = BrowserWindow.getAllWindows();
      const { preload } = (
        first?.webContents as unknown as { getLastWebPreferences: () => { preload: string } }
      ).getLastWebPreferences();
      const foreign = new BrowserWindow({ show: false, webPreferences: { preload, sandbox: true } });
      await foreign.loadURL('data:text/html,<title>elsewhere</title>');
      const answer: unknown = await foreign.webContents.executeJavaScript(
        "virnucpro.connect().then(() => 'connected', (error) => error.message)",
      );
      // Our own page may not do so either in a window that the program did not open for it.
      await foreign.loadURL('app://virnucpro/');
      const unknown: unknown = await foreign.webContents.executeJavaScript(
        "virnucpro.connect().then(() => 'connected', (error) => error.message)",
      );
      foreign.destroy();
      return [answer, unknown];
    });
    for (const refusal of refusals) expect(refusal).toContain('This page may not talk to the engine');
  });

  await test.step('It stays where it is when it tries to navigate away, and its calls still work', async () => {
    // Counts new connections, which show that the old one was cut.
    await app.evaluate(({ ipcMain, BrowserWindow }) => {
      const counts = { connections: 0, navigations: 0 };
      Object.assign(ipcMain, { counts });
      const [window] = BrowserWindow.getAllWindows();
      const contents = window?.webContents;
      if (!contents) throw new Error('no window');
      const post = contents.postMessage.bind(contents);
      contents.postMessage = (...args) => {
        counts.connections += 1;
        post(...args);
      };
      contents.on('did-start-navigation', ({ isSameDocument }) => {
        if (!isSameDocument) counts.navigations += 1;
      });
    });
    const counts = () => app.evaluate(({ ipcMain }) => (ipcMain as unknown as { counts: object }).counts);
    await page.evaluate("location.href = 'https://example.org/'");
    await expect.poll(counts).toMatchObject({ navigations: 1 });
    await page.getByRole('link', { name: 'Computer check' }).click();
    await expect(page.getByText(/Python 3/).first()).toBeVisible();
    await expect(page.getByText('Connection to the program lost')).toBeHidden();
    expect(await counts()).toEqual({ connections: 0, navigations: 1 });
    expect(
      await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.getURL()),
    ).toMatch(/^app:\/\/virnucpro\//);

    // An intentional reload gives it another connection.
    await page.reload();
    await expect.poll(counts).toMatchObject({ connections: 1 });
    await page.getByRole('link', { name: 'Settings' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  });

  await test.step('A path that the page makes up is refused, and a dropped file is accepted', async () => {
    await goTo(page, 'New run');
    // A file made by a script has no path, whatever its name.
    expect(await page.evaluate("window.virnucpro.pathForFile(new File(['>a\\nACGT'], '/etc/passwd'))")).toBe(
      '',
    );
    const input = join(places.files, 'given.fasta');
    await writeSample(input, 1);
    await drop(page, [input]);
    await expect(page.getByText('given.fasta').first()).toBeVisible();
  });
});
