import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from '../support/fixtures.ts';
import { goTo, isDone, seriousComplaints } from '../support/window.ts';

test('a first start: welcome, the example, its verdict, its results, an export', async ({
  page,
  engine,
  places,
}) => {
  await page.goto(await engine.address());
  // The token is gone from the address as soon as it has been used.
  await expect(page).toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\/(#.*)?$/);
  await expect(page.getByText('1 of 3')).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Run the example' }).click();

  await isDone(page);
  await expect(page.getByText('Your installation gives the expected answers.')).toBeVisible();
  await expect(page.getByText('DEMO MODEL', { exact: false }).first()).toBeVisible();

  await page.getByRole('tab', { name: 'Results' }).click();
  await expect(page.getByText('60 sequences shown')).toBeVisible();

  for (const tab of ['Progress', 'Files and failures', 'Results']) {
    await page.getByRole('tab', { name: tab }).click();
    expect(await seriousComplaints(page), tab).toEqual([]);
  }

  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByLabel('All', { exact: true }).check();
  const downloading = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('Example.tsv');
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
  const [header = '', ...rows] = lines.map((line) => line.split('\t'));

  const db = new Database(join(places.data, 'example', 'run.db'), { readonly: true });
  const stored = db
    .prepare<[], { name: string; length: number; score: number | null; prediction: string }>(
      `SELECT name, length, virus_score AS score, prediction
       FROM sequence JOIN record USING (row) ORDER BY row`,
    )
    .all();
  db.close();
  const column = (name: string): number => header.indexOf(name);
  const exported = rows.map((cells) => ({
    name: cells[column('seq_name')],
    length: Number(cells[column('length')]),
    score: cells[column('virus_score')] === 'NA' ? null : Math.fround(Number(cells[column('virus_score')])),
    prediction: cells[column('prediction')],
  }));
  expect(exported).toHaveLength(60);
  expect(exported).toEqual(
    stored.map((row) => ({ ...row, score: row.score === null ? null : Math.fround(row.score) })),
  );
});

test('a window without a valid token is told so, and what to do', async ({ page, engine }) => {
  const address = new URL(await engine.address());
  for (const wrong of [address.origin, `${address.origin}/?token=wrong`]) {
    await page.goto(wrong);
    await expect(page.getByRole('heading', { name: 'This window may not talk to the engine' })).toBeVisible();
  }
  await page.goto(address.href);
  await expect(page.getByText('1 of 3')).toBeVisible();
});

test('every screen, light and dark, gives axe nothing serious to find', async ({ window: page }) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
    for (const place of ['New run', 'Runs', 'Computer check', 'Settings', 'Help']) {
      await goTo(page, place);
      expect(await seriousComplaints(page), `${place}, ${colorScheme}`).toEqual([]);
    }
  }
});

test('the chosen theme stays, also after loading the page again', async ({ window }) => {
  await goTo(window, 'Settings');
  await window.getByText('Dark', { exact: true }).click();
  const html = window.locator('html');
  await expect(html).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await window.reload();
  await expect(html).toHaveAttribute('data-mantine-color-scheme', 'dark');
});
