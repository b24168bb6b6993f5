import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from '@playwright/test';
import { open } from '../tour.ts';
import type { GuideCamera } from './guideCamera.ts';

const LONG_MS = 300_000;
const RUN_NAME = 'Pond water, May';

/** One file and a laptop: from an empty home to a report that can be mailed. Real engine, demo model. */
export async function biologist(
  page: Page,
  camera: GuideCamera,
  places: Record<'files' | 'exports', string>,
) {
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  await page.getByRole('button', { name: 'Run the example' }).waitFor({ timeout: LONG_MS });
  await camera.take('first-steps');
  await page.getByRole('button', { name: 'Run the example' }).click();
  await page.getByText('The installation works.').waitFor({ timeout: LONG_MS });
  await camera.take('example');

  await open(page, 'New run');
  await camera.take('new-run');
  await page.getByRole('button', { name: 'Choose files' }).click();
  await page.getByRole('dialog').getByText('pond_water.fasta').click();
  await camera.take('choose');
  await page.getByRole('button', { name: 'Take 1 file' }).click();
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
  await camera.take('what-is-in-it');
  await page.getByRole('radio', { name: 'Demo model' }).click();
  await page.getByRole('button', { name: 'Use the demo model' }).waitFor();
  await camera.take('demo-question');
  await page.getByRole('button', { name: 'Use the demo model' }).click();
  await page.getByLabel('Name of the run').fill(RUN_NAME);
  await page.getByText(/^About /).waitFor();
  await camera.take('ready');
  await page.getByRole('button', { name: 'Start', exact: true }).click({ timeout: LONG_MS });
  await page.getByRole('heading', { name: RUN_NAME }).waitFor({ timeout: LONG_MS });
  await camera.take('started');
  await page
    .getByText(/viral so far/i)
    .first()
    .waitFor({ timeout: LONG_MS });
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
  await page.getByRole('button', { name: 'Report and command' }).click();
  await page.getByRole('menuitem', { name: 'Report (HTML)' }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download', { timeout: LONG_MS }),
    page.getByRole('menuitem', { name: 'Report (HTML)' }).click(),
  ]);
  const report = join(places.exports, download.suggestedFilename());
  await download.saveAs(report);
  await camera.take('report-saved');
  const mailed = await page.context().newPage();
  await mailed.setViewportSize({ width: 1280, height: 800 });
  await mailed.goto(pathToFileURL(report).href);
  await camera.take('report', mailed);
  await mailed.close();
}

/** As an assembler gives them: the sample's records some dozens of times, with names of their own. */
export async function pondWater(sample: string, folder: string): Promise<void> {
  const records = sample.split(/^>/m).filter(Boolean);
  const text = Array.from({ length: 12 }, (_, copy) =>
    records.map((record) => `>k141_${copy}${record.replace(/^\S+_/, '')}`).join(''),
  ).join('');
  await writeFile(join(folder, 'pond_water.fasta'), text);
}
