/**
 * `npm run node -- e2e/screenshots/firstRun.ts`: takes the pictures of docs/guide/first-run.md for docs/images: the
 * first steps on a computer on which nothing is set up, with invented contents.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Page } from '@playwright/test';
import { buildWindow } from '../../build/buildWindow.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';
import { findChromium } from '../support/findChromium.ts';
import { setUp } from './steps.ts';

const SIZE = { width: 1120, height: 780 };
const LONG_MS = 120_000;

const folder = join(import.meta.dirname, '..', '..', 'docs', 'images');

const executablePath = findChromium();
if (executablePath === undefined) {
  process.stdout.write('No Chromium found: install one, or set CHROMIUM_PATH.\n');
  process.exit(1);
}
await buildWindow();
await mkdir(folder, { recursive: true });
const fresh = await serveMemoryEngine({ runs: 'none', fresh: true, welcomeSeen: false });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const context = await browser.newContext({ viewport: SIZE, colorScheme: 'light', reducedMotion: 'reduce' });
const take = async (page: Page, name: string) => {
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(folder, `first-run-${name}.png`) });
};
try {
  const page = await context.newPage();
  page.setDefaultTimeout(LONG_MS);
  await page.goto(fresh.url);
  await setUp(page, { take: (name) => take(page, name) });
  await page.getByRole('button', { name: 'Later' }).click();
  await page
    .getByRole('button', { name: /^Download/ })
    .first()
    .waitFor();
  await page.mouse.wheel(0, 300);
  await take(page, 'model');
  await page
    .getByRole('button', { name: /^Download/ })
    .first()
    .click();
  await page
    .getByRole('button', { name: /^Check the model/ })
    .first()
    .waitFor();
} finally {
  await browser.close();
  await fresh.stop();
}
