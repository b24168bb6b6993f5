import type { Page } from '@playwright/test';
import { RUN_IDS } from '../../../renderer/testing/memoryEngine/runs.ts';
import type { GuideCamera } from './guideCamera.ts';

const PLOTS = {
  scores: 'Scores by call',
  lengths: 'Viral share by length',
  grid: 'Length against score',
  ranked: 'Ranked scores',
  composition: 'Composition of samples',
} as const;

/** What can be done with results, one picture each, with invented contents: from the presets to the files of the run. */
export async function results(page: Page, camera: GuideCamera, address: string): Promise<void> {
  const goTo = (place: string) => page.goto(`${address}#/run/${place}`);
  const headingToTop = (name: string) =>
    page.getByRole('heading', { name, exact: true }).first().evaluate(toTop);
  await page.getByRole('button', { name: 'Later' }).click();
  await goTo(`${RUN_IDS.done}/results`);
  await page.getByText('100,000 sequences shown').waitFor();
  await page.getByRole('row').nth(5).waitFor();

  const filters = page.getByRole('search', { name: 'Filter the table' });
  await filters.evaluate(toTop);
  await filters.getByRole('button', { name: 'Presets' }).click();
  const candidates = page.getByRole('menuitem', { name: /^Candidates.*\d$/ });
  await candidates.waitFor();
  await camera.take('presets');
  await page.keyboard.press('Escape');

  await headingToTop('Samples');
  await camera.take('samples');

  const plots = page.locator('details', { has: page.getByText('More plots', { exact: true }) });
  await plots.locator('summary').first().click();
  for (const [name, title] of Object.entries(PLOTS)) {
    await plots
      .locator('label')
      .filter({ hasText: new RegExp(`^${title}$`) })
      .click();
    await plots.getByRole('figure', { name: title }).waitFor();
    await plots.evaluate(toTop);
    await camera.take(`plot-${name}`);
  }
  await plots.locator('summary').first().click();

  const table = page.getByRole('grid', { name: 'Sequences' });
  await table.getByRole('columnheader', { name: 'Length' }).getByRole('button').click();
  await page.waitForTimeout(1000);
  await table.getByRole('row').nth(2).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('Scores along the sequence').first().waitFor();
  const bars = drawer.locator('svg g[class*="chunk"]').filter({ hasText: /, [FR][123]$/ });
  await bars.nth(2).locator('rect').first().click();
  await camera.take('sequence');
  await drawer.getByLabel('Tags', { exact: true }).fill('to check');
  await page.keyboard.press('Enter');
  await drawer.getByLabel('Note', { exact: true }).fill('Ask for the reads; PCR on Thursday.');
  await drawer.getByRole('button', { name: 'Show letters and protein' }).click();
  await drawer.getByRole('button', { name: 'Copy as FASTA' }).last().scrollIntoViewIfNeeded();
  await camera.take('notes-and-letters');
  await drawer
    .getByRole('button', { name: /^Search with BLAST/ })
    .first()
    .click();
  await page.getByRole('dialog', { name: 'Send this sequence to NCBI?' }).waitFor();
  await camera.take('blast');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Report, comparisons and command' }).click();
  await page.getByRole('menuitem', { name: 'Report (HTML)' }).waitFor();
  await camera.take('menu');
  await page.getByRole('menuitem', { name: 'Compare with another run' }).click();
  const comparison = page.getByRole('dialog', { name: /^Compare/ });
  await comparison.getByRole('combobox', { name: 'The other run' }).click();
  await page.getByRole('option').first().click();
  await comparison.getByRole('figure', { name: 'Scores in both runs' }).waitFor();
  await camera.take('compare');
  await comparison.getByRole('table', { name: /^Sequences whose call changed/ }).evaluate(toTop);
  await camera.take('compare-changed');
  await page.keyboard.press('Escape');

  await headingToTop('Other tools');
  await camera.take('other-tools');

  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByText('Which sequences').waitFor();
  await page.getByRole('combobox', { name: 'As' }).click();
  await page.getByRole('option', { name: 'Excel workbook (XLSX)' }).waitFor();
  await camera.take('export');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');

  await goTo(`${RUN_IDS.interrupted}/results`);
  await page.getByText('Provisional results').waitFor();
  await page.getByRole('row').nth(5).waitFor();
  await camera.take('provisional');
  await page.getByRole('button', { name: 'Finish with what is computed' }).first().click();
  await page.getByRole('dialog', { name: 'Finish with what is computed?' }).waitFor();
  await camera.take('finish-now');
  await page.keyboard.press('Escape');

  await goTo(`${RUN_IDS.done}/files`);
  await page.getByRole('heading', { name: 'Result files' }).waitFor();
  await headingToTop('Result files');
  await camera.take('files');
}

interface Scrollable {
  readonly style: { scrollMarginTop: string };
  scrollIntoView: (where: { block: 'start' }) => void;
}

function toTop(node: Scrollable): void {
  node.style.scrollMarginTop = '16px';
  node.scrollIntoView({ block: 'start' });
}
