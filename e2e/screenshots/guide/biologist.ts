import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from '@playwright/test';
import { goTo, LONG_MS } from '../../support/window.ts';
import type { GuideCamera } from './guideCamera.ts';

const RUN_NAME = 'Pond water, May';
/** The size that most mail servers accept. */
const MAIL_BYTES = 10_000_000;
const PHONE = { width: 390, height: 844 };
/** The size of A4 at 96 dots per inch. */
const A4 = { width: 794, height: 1123 };

/**
 * Shows the set-up in an empty home, on an invented computer, because a real set-up downloads some gigabytes
 * and takes minutes.
 */
export async function emptyHome(page: Page, camera: GuideCamera): Promise<void> {
  await page.getByRole('button', { name: 'Set up from an offline folder …' }).waitFor();
  await camera.take('set-up');
  await page.getByRole('button', { name: 'Set up', exact: true }).first().click();
  await page.getByText('Getting PyTorch, the largest part').first().waitFor();
  await camera.take('setting-up');
  await page.getByRole('button', { name: 'Run the example' }).waitFor();
  await camera.take('first-steps');
}

/**
 * Shows one file on a laptop, from the first steps to a report that came by mail, with the real engine and
 * the teaching model.
 */
export async function biologist(page: Page, camera: GuideCamera, home: string): Promise<void> {
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  await page.getByRole('button', { name: 'Run the example' }).click({ timeout: LONG_MS });
  await page.getByText('The example is computed:').waitFor({ timeout: LONG_MS });
  await camera.take('example');

  await goTo(page, 'New run');
  await camera.take('new-run');
  await page.getByRole('button', { name: 'Choose files' }).click();
  await page.getByRole('dialog').getByText('pond_water.fasta').click();
  await camera.take('choose');
  await page.getByRole('button', { name: 'Take 1 file' }).click();
  await page.getByText(/^1 file · [1-9]/).waitFor({ timeout: LONG_MS });
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
  await camera.take('what-is-in-it');
  await page.getByRole('radio', { name: 'Teaching model' }).click();
  await page.getByRole('button', { name: 'Use the teaching model' }).waitFor();
  await camera.take('teaching-question');
  await page.getByRole('button', { name: 'Use the teaching model' }).click();
  await page.getByLabel('Name of the run').fill(RUN_NAME);
  await page.getByText(/^About /).waitFor();
  await camera.take('ready');
  await page.getByRole('button', { name: 'Start', exact: true }).click({ timeout: LONG_MS });
  await page.getByRole('heading', { name: RUN_NAME }).waitFor({ timeout: LONG_MS });
  await camera.take('started');
  // The run is far enough to show a curve and the remaining time.
  await page.getByRole('figure', { name: /^Speed over time/ }).waitFor({ timeout: LONG_MS });
  await page.getByText(/^about \d/).waitFor({ timeout: LONG_MS });
  // Moves the pointer away, so that no chart shows a tooltip.
  await page.mouse.move(0, 0);
  await page.waitForTimeout(8000);
  await camera.take('at-work');
  await page.getByText('Done', { exact: true }).first().waitFor({ timeout: LONG_MS });
  await camera.take('done');

  await page.getByRole('tab', { name: 'Results' }).click();
  await page.getByRole('row').nth(5).waitFor();
  await camera.take('results');
  await page.getByRole('row').nth(2).click();
  await page.getByText('Scores along the sequence').first().waitFor();
  await camera.take('sequence');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByText('Which sequences').waitFor();
  await camera.take('export');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Report …' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download', { timeout: LONG_MS }),
    page.getByRole('button', { name: 'Save as HTML' }).click(),
  ]);
  const report = join(home, download.suggestedFilename());
  await download.saveAs(report);
  await camera.take('report-saved');
  const { size } = await stat(report);
  if (size > MAIL_BYTES) throw new Error(`The report has ${size} bytes, too many for a mail`);
  // A recipient opens it on a phone, without this program and without a network.
  await camera.take('report', await offline(page, report, PHONE));
  await camera.take('report-on-paper', await printed(page, report));
}

/** Shows the report as wide as a sheet of A4, in the print layout. */
async function printed(page: Page, report: string): Promise<Page> {
  const paper = await offline(page, report, A4);
  await paper.emulateMedia({ media: 'print' });
  // A printer adds these margins, so the picture needs them explicitly.
  await paper.addStyleTag({ content: 'body { padding: 16mm 15mm !important }' });
  return paper;
}

async function offline(page: Page, report: string, viewport: typeof PHONE): Promise<Page> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page has no browser');
  const theirs = await browser.newContext({ offline: true, viewport, colorScheme: 'light' });
  const opened = await theirs.newPage();
  await opened.goto(pathToFileURL(report).href);
  await opened.getByRole('heading', { level: 1 }).waitFor();
  return opened;
}
