import type { Page } from '@playwright/test';
import { drop } from '../../support/window.ts';
import type { GuideCamera } from './guideCamera.ts';
import { openRun, RUNS } from './realRuns.ts';

/** Shows what can be done with results, with one picture each: from the presets to the files of the run. */
export async function results(page: Page, camera: GuideCamera, table: string): Promise<void> {
  const headingToTop = (name: string) =>
    page.getByRole('heading', { name, exact: true }).first().evaluate(toTop);
  await openRun(page, RUNS.done, 'results');
  await page.getByRole('row').nth(5).waitFor();

  const filters = page.getByRole('search', { name: 'Filter the table' });
  await filters.getByRole('button', { name: 'Filters', exact: true }).click();
  await page.getByRole('button', { name: /^Candidates\s*\d/ }).waitFor();
  await camera.take('presets');
  await page.keyboard.press('Escape');

  await openRun(page, RUNS.done, 'samples');
  await page.getByRole('table').waitFor();
  await camera.take('samples');

  await openRun(page, RUNS.done, 'plots');
  await page.getByRole('figure', { name: 'Viral share by length' }).waitFor();
  await headingToTop('Scores by call');
  await page.mouse.move(0, 0);
  await camera.take('plots');

  await openRun(page, RUNS.done, 'results');
  const grid = page.getByRole('grid', { name: 'Sequences' });
  await grid.getByRole('columnheader', { name: 'Length' }).getByRole('button').click();
  await page.waitForTimeout(1000);
  for (const row of [1, 3]) await grid.getByRole('checkbox').nth(row).click();
  await grid.getByRole('row').nth(2).getByRole('gridcell').nth(1).click();
  const panel = page.getByRole('region', { name: 'Sequence', exact: true });
  await panel.getByText('Scores along the sequence').first().waitFor();
  const bars = panel.locator('svg g[class*="chunk"]').filter({ hasText: /, [FR][123]$/ });
  await bars.nth(2).locator('rect').first().click();
  await camera.take('sequence');
  await panel.getByRole('button', { name: 'Show letters and protein' }).click();
  await panel.getByRole('button', { name: 'Copy as FASTA' }).last().waitFor();
  await panel
    .getByRole('button', { name: /^Search with BLAST/ })
    .first()
    .click();
  await page.getByRole('dialog', { name: 'Send this sequence to NCBI?' }).waitFor();
  await camera.take('blast');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Columns, comparisons, other tools and command' }).click();
  await page.getByRole('menuitem', { name: 'Compare with another run' }).waitFor();
  await camera.take('menu');
  await page.getByRole('menuitem', { name: 'Compare with another run' }).click();
  await page.getByRole('combobox', { name: 'The other run' }).click();
  await page.getByRole('option', { name: RUNS.otherChunks }).click();
  await page.getByRole('heading', { name: /^Sequences whose call changed/ }).waitFor();
  await camera.take('compare');
  await page.getByRole('heading', { name: /^Sequences whose call changed/ }).evaluate(toTop);
  await camera.take('compare-changed');

  await openRun(page, RUNS.done, 'results');
  await drop(page, [table]);
  await page.getByRole('region', { name: 'geNomad' }).waitFor();
  await camera.take('other-tools');
  await openRun(page, RUNS.done, 'results');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByText('Which sequences').waitFor();
  await page.getByRole('radio', { name: 'Excel workbook (XLSX)' }).waitFor();
  await camera.take('export');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');

  await openRun(page, RUNS.paused, 'results');
  await page.getByText('Provisional results').waitFor();
  await page.getByRole('row').nth(5).waitFor();
  await camera.take('provisional');
  await page.getByRole('button', { name: 'Finish with what is computed' }).first().click();
  await page.getByRole('dialog', { name: 'Finish with what is computed?' }).waitFor();
  await camera.take('finish-now');
  await page.keyboard.press('Escape');

  await openRun(page, RUNS.done, 'files');
  await page.getByRole('heading', { name: 'Result files' }).waitFor();
  await headingToTop('Result files');
  await camera.take('files');
}

interface Scrollable {
  readonly style: { scrollMarginTop: string };
  scrollIntoView: (where: { block: 'start' }) => void;
}

/** Scrolls an element to the top of the picture. */
function toTop(node: Scrollable): void {
  node.style.scrollMarginTop = '16px';
  node.scrollIntoView({ block: 'start' });
}
