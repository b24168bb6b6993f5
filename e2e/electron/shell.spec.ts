import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { _electron, expect, test, type ElectronApplication, type Page } from '@playwright/test';
import { buildDesktop } from '../../build/buildDesktop.ts';
import { findElectron, missingDisplay } from '../../build/electronBinary.ts';
import { isAlive, workersBelow } from '../support/workerProcesses.ts';

const root = join(import.meta.dirname, '..', '..');
const electron = findElectron();
const noWindow = missingDisplay();

test.skip(!electron.found, electron.found ? '' : `Not run, since ${electron.reason}.`);
test.skip(noWindow !== undefined, `Not run, since ${noWindow ?? ''}.`);

let folder: string;
let app: ElectronApplication;
let page: Page;

test.beforeAll(async () => {
  await buildDesktop();
});

test.beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'electron e2e '));
  app = await launch();
  page = await app.firstWindow();
  await expect(page.getByRole('button', { name: 'Skip' })).toBeVisible();
});

test.afterEach(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

function launch(): Promise<ElectronApplication> {
  return _electron.launch({
    executablePath: electron.found ? electron.file : '',
    args: [root, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    env: { ...definedEnvironment(), VIRNUCPRO_DATA_DIR: folder },
  });
}

test('the page has no Node and exactly one name of ours, with its two functions', async () => {
  expect(await page.evaluate('typeof require + typeof process + typeof module')).toBe(
    'undefinedundefinedundefined',
  );
  expect(await page.evaluate('Object.keys(window.virnucpro).sort()')).toEqual(['connect', 'pathForFile']);
  expect(page.url()).toMatch(/^app:\/\/virnucpro\//);
});

test('the window is sandboxed and isolated', async () => {
  const preferences = await app.evaluate(({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows();
    const contents = window?.webContents as unknown as { getLastWebPreferences: () => object };
    return contents.getLastWebPreferences();
  });
  expect(preferences).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    webviewTag: false,
  });
});

test('the policy comes as a header, and inline scripts do not run', async () => {
  const policy = await page.evaluate(
    "fetch('app://virnucpro/').then((answer) => answer.headers.get('content-security-policy'))",
  );
  expect(policy).toContain("script-src 'self'");
  await page.evaluate(
    "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = true' }))",
  );
  expect(await page.evaluate('window.ran')).toBeUndefined();
});

test('the page stays where it is, and opens no windows', async () => {
  const before = page.url();
  await page.evaluate("location.href = 'https://example.org/'");
  expect(await page.evaluate("window.open('https://example.org/') === null")).toBe(true);
  // What was let through would be there by now.
  await page.waitForTimeout(1000);
  expect(app.windows()).toHaveLength(1);
  expect(page.url()).toBe(before);
  await expect(page.getByRole('button', { name: 'Skip' })).toBeVisible();
});

test('files outside of the window cannot be read through its address', async () => {
  const answers = await page.evaluate(
    "Promise.all(['app://virnucpro/../package.json', 'app://virnucpro/%2e%2e/main/main.js', 'app://other/'].map((url) => fetch(url).then((answer) => answer.status, () => 0)))",
  );
  expect(answers).toEqual([404, 404, expect.any(Number)]);
  expect((answers as number[])[2]).not.toBe(200);
});

test('a second start shows the first window and ends', async () => {
  const second = await launch().catch(() => undefined);
  if (second) await second.waitForEvent('close');
  expect(app.windows()).toHaveLength(1);
});

test('a page that is loaded again finds its engine', async () => {
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.reload();
  await expect(page.getByRole('button', { name: 'Run the example' })).toBeVisible();
  await page.getByRole('link', { name: 'Computer check' }).click();
  await expect(page.getByText(/Python 3/).first()).toBeVisible();
});

test('quitting during a run leaves no process behind', async () => {
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.getByRole('button', { name: 'Run the example' }).click();
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible({ timeout: 60_000 });
  const pid = app.process().pid ?? 0;
  let workers: number[] = [];
  await expect.poll(async () => (workers = await workersBelow(pid)).length).toBeGreaterThan(0);
  await app.evaluate(({ dialog }) => {
    // "Quit now", as a user would press it.
    dialog.showMessageBox = () => Promise.resolve({ response: 2, checkboxChecked: false });
  });
  const closed = app.waitForEvent('close');
  await app.evaluate(({ app: running }) => {
    running.quit();
  });
  await closed;
  await expect.poll(() => [pid, ...workers].filter(isAlive)).toEqual([]);
});

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
