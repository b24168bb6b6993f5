import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeSample } from '../support/inputs.ts';
import { goTo, isDone } from '../support/window.ts';
import { expect, firstWindow, openDatabases, shellLog, test } from './support/fixtures.ts';
import { answerQuestions, catchRelaunch, quit, startDroppedRun } from './support/steps.ts';

test('a first start, the example, a dropped file whose export goes where the user chooses, and a quit, with no problems in the log', async ({
  start,
  places,
}) => {
  const app = await start();
  const page = await firstWindow(app);
  const thrown: string[] = [];
  page.on('pageerror', ({ message }) => thrown.push(message));
  const notices = () =>
    app.evaluate(({ Notification }) => (Notification as unknown as { shown?: string[] }).shown ?? []);
  await app.evaluate(({ Notification, BrowserWindow }) => {
    const kept = Notification as unknown as { shown: string[] };
    kept.shown = [];
    Notification.prototype.show = function show(this: Electron.Notification) {
      kept.shown.push(this.title);
    };
    // Users who look at the window need no notification.
    for (const window of BrowserWindow.getAllWindows()) window.isFocused = () => false;
  });
  await page.getByRole('button', { name: 'Run the example' }).click();
  await isDone(page);
  await expect.poll(notices).toEqual(['Example is done']);
  await expect(page.getByText('36 sequences shown')).toBeVisible();

  const input = join(places.files, 'in the water', 'contigs.fasta');
  await writeSample(input, 1);
  await startDroppedRun(page, [input], 'Dropped');
  await isDone(page);
  await page.getByRole('tab', { name: 'Files and failures' }).click();
  await expect(
    page.getByText(join(places.files, 'in the water', 'Dropped_NOT_FOR_RESEARCH')).first(),
  ).toBeVisible();

  const exported = join(places.files, 'export.tsv');
  await app.evaluate(({ dialog }, filePath) => {
    dialog.showSaveDialog = () => Promise.resolve({ canceled: false, filePath });
  }, exported);
  await page.getByRole('tab', { name: 'Results' }).click();
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('radio', { name: /^All \(/ }).check();
  await page.getByRole('combobox', { name: 'For other programs' }).click();
  await page.getByRole('option', { name: 'Tab-separated table (TSV)' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  await expect
    .poll(async () => (await readFile(exported, 'utf8').catch(() => '')).trimEnd().split('\n').length)
    .toBe(61);
  expect(thrown).toEqual([]);
  await quit(app);
  expect(await app.ended()).toBe(0);
  const log = await shellLog(places);
  expect(log).toMatch(/info Start of VirNucPro Desktop \S+ from a checkout on .*sandbox .*\n/);
  expect(log).toContain('End, exit code 0');
  expect(log).not.toMatch(/ (error|warning) /);
});

test('without Python the window opens, explains it, and starts again in another data folder', async ({
  start,
  places,
}) => {
  const app = await start({ env: { VIRNUCPRO_PYTHON: '/nowhere/python3', VIRNUCPRO_DATA_DIR: undefined } });
  await catchRelaunch(app);
  const page = await firstWindow(app);
  await goTo(page, 'Computer check');
  await expect(page.getByText(/nowhere/).first()).toBeVisible({ timeout: 60_000 });

  const other = join(places.files, 'Daten');
  await mkdir(other);
  await app.evaluate(({ dialog }, folder) => {
    dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [folder] });
  }, other);
  await goTo(page, 'Settings');
  await page.getByRole('button', { name: 'Choose: Data folder' }).click();
  await expect(page.getByText(`From the next start on, data are kept in ${other}.`)).toBeVisible();
  await page.getByRole('button', { name: 'Restart now' }).click();
  expect(await app.ended(), app.output).toBe(0);

  expect(app.output).toContain('RELAUNCH');

  const again = await start({ env: { VIRNUCPRO_DATA_DIR: undefined } });
  await again.page();
  await quit(again);
  expect(await again.ended(), again.output).toBe(0);
  expect(await shellLog({ data: other })).toContain('End, exit code 0');
  expect(existsSync(join(other, 'library.db'))).toBe(true);
  expect(await openDatabases(other)).toEqual([]);
});

test('a window that is never painted reports this and starts again in safe mode', async ({
  start,
  places,
  host,
}) => {
  test.skip(host === 'electron', 'Not run, since Electron paints.');
  const app = await start({ env: { STAND_IN_NEVER_PAINTS: '1' } });
  await catchRelaunch(app);
  await answerQuestions(app, 'Restart in safe mode');
  expect(await app.ended(), app.output).toBe(0);
  expect(await shellLog(places)).toContain('has not been painted');
  expect(app.output).toMatch(/RELAUNCH .*"--safe-mode"/);
});

test('the self-check prints a line a point, and finds nothing amiss', async ({ start, places }) => {
  const app = await start({ args: ['--self-check'] });
  expect(await app.ended(), app.output).toBe(0);
  const lines = app.output.split('\n').filter((line) => /^(ok|FAIL) +\d+ /.test(line));
  expect(lines).toHaveLength(4);
  expect(lines.at(-1)).toMatch(/^ok .*The example is computed, and answers a query/);
  for (const line of lines) expect(await shellLog(places)).toContain(line);
});
