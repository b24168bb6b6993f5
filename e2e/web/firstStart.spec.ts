import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from '../support/fixtures.ts';
import { goTo, isDone, expectNoComplaint, LONG_MS, runState } from '../support/window.ts';

test('a first start: the example, its results, an export', async ({ page, engine }) => {
  await page.goto(await engine.address());
  // The token disappears from the address as soon as it has been used.
  await expect(page).toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\/(#.*)?$/);
  await page.getByRole('button', { name: 'Run the example' }).click();
  // New run shows the example at once; First steps replaces it when the computer has been checked, and links
  // to it.
  const lead = page.getByRole('button', { name: 'See its results' });
  await expect(lead.or(runState(page, 'Done')).first()).toBeVisible({ timeout: LONG_MS });
  if (await lead.isVisible()) await lead.click();
  await isDone(page);
  await expect(page.getByText('not for research', { exact: false }).first()).toBeVisible();

  await expect(page.getByText('36 sequences shown')).toBeVisible();

  for (const tab of ['How it ran', 'Files and failures', 'Results']) {
    await page.getByRole('tab', { name: tab }).click();
    await expectNoComplaint(page, tab);
  }
  const table = page.getByRole('grid', { name: 'Sequences' });
  const names = table.getByRole('columnheader', { name: 'Name' });
  await names.getByRole('button').click();
  await expect(names).toHaveAttribute('aria-sort', /ascending|descending/);
  if ((await names.getAttribute('aria-sort')) === 'descending') await names.getByRole('button').click();
  await expect(names).toHaveAttribute('aria-sort', 'ascending');
  const rowAt = (position: number) => table.locator(`[aria-rowindex="${position + 1}"]`);
  for (const [key, position, name] of [
    ['End', 36, 'k99_957406'],
    ['Home', 1, 'crassphage_1'],
    ['ArrowDown', 2, 'crassphage_2'],
  ] as const) {
    await table.press(key);
    await expect(rowAt(position)).toContainText(name);
  }
  await table.press('Home');
  await rowAt(1).click();
  await expect(page.getByRole('figure', { name: /Scores along the sequence/ })).toBeVisible();
  await expectNoComplaint(page, 'A sequence');
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Export' }).click();
  await expectNoComplaint(page, 'Export');
  await page.getByRole('radio', { name: /^All \(/ }).check();
  await page.getByRole('combobox', { name: 'For other programs' }).click();
  await page.getByRole('option', { name: 'Tab-separated table (TSV)' }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/^Example_NOT_FOR_RESEARCH_all_\d+\.tsv$/);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(37);
  expect(lines[1]).toContain('\tcrassphage_1\t');
});

test('a window without a key, or whose key was used, says so; the next address opens it', async ({
  page,
  engine,
  browser,
}) => {
  const address = await engine.address();
  await page.goto(new URL(address).origin);
  await expect(page.getByRole('heading', { name: 'This window has no access' })).toBeVisible();
  await page.goto(address);
  await expect(page.getByRole('heading', { level: 1, name: 'First steps' })).toBeVisible();
  const late = await browser.newPage();
  await late.goto(address);
  await expect(late.getByText('It has been used')).toBeVisible();
  await late.goto(await engine.address());
  await expect(late.getByRole('heading', { level: 1, name: 'First steps' })).toBeVisible();
  await late.close();
});

test('the chosen theme is kept, also after reloading the page', async ({ window }) => {
  await goTo(window, 'Settings');
  await window.getByText('Dark', { exact: true }).click();
  await expect.poll(() => brightness(window)).toBeLessThan(0.2);
  await window.reload();
  expect(await brightness(window)).toBeLessThan(0.2);
  await goTo(window, 'Settings');
  await window.getByText('Light', { exact: true }).click();
  await expect.poll(() => brightness(window)).toBeGreaterThan(0.8);
});

/** Brightness of the page's background, from 0 to 1. */
function brightness(page: Page): Promise<number> {
  return page.evaluate<number>(`(() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
    return (red + green + blue) / 3 / 255;
  })()`);
}

test('npm start on a computer without a screen serves the browser, and explains why', async ({
  startEngine,
  places,
}) => {
  test.skip(process.platform !== 'linux', 'Not run, since elsewhere every computer has a screen.');
  const program = startEngine({
    command: [join(import.meta.dirname, '..', '..', 'build', 'start.ts')],
    env: { DISPLAY: '', WAYLAND_DISPLAY: '', HOME: places.files },
  });
  const address = await program.address();
  expect(program.output).toContain('Opening in the browser, since this computer has no screen.');
  expect((await fetch(address)).status).toBe(200);
});
