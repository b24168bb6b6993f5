/** The screens of a window over invented runs, and the ways to them. */
import { expect, type Page } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';

/** Window sizes in CSS pixels. At 200 % magnification, a screen of 1440 x 900 has 720 x 450 of them. */
export const SIZES = {
  wide: { width: 1920, height: 1080 },
  usual: { width: 1440, height: 900 },
  smallest: { width: 900, height: 600 },
  magnified: { width: 720, height: 450 },
  narrow: { width: 390, height: 844 },
};

export const PLACES = {
  'new run': '#/new-run',
  runs: '#/runs',
  models: '#/models',
  'computer check': '#/computer',
  computers: '#/computers',
  settings: '#/settings',
  help: '#/help',
  'guide, first run': '#/guide/first-run',
  'guide, requirements': '#/guide/requirements',
  running: `#/run/${RUN_IDS.running}/progress`,
  'running, files': `#/run/${RUN_IDS.running}/files`,
  waiting: `#/run/${RUN_IDS.queuedFirst}/progress`,
  interrupted: `#/run/${RUN_IDS.interrupted}/progress`,
  'interrupted, results': `#/run/${RUN_IDS.interrupted}/results`,
  halted: `#/run/${RUN_IDS.halted}/progress`,
  'done with failures': `#/run/${RUN_IDS.withFailures}/files`,
  results: `#/run/${RUN_IDS.done}/results`,
  'results, a sequence': `#/run/${RUN_IDS.done}/results`,
  samples: `#/run/${RUN_IDS.done}/samples`,
  plots: `#/run/${RUN_IDS.done}/plots`,
  'other tools': `#/run/${RUN_IDS.done}/tools`,
  'no other tools': `#/run/${RUN_IDS.teaching}/tools`,
  'teaching results': `#/run/${RUN_IDS.teaching}/results`,
  'waiting, files': `#/run/${RUN_IDS.queuedFirst}/files`,
  'waiting, results': `#/run/${RUN_IDS.queuedFirst}/results`,
  'running, results': `#/run/${RUN_IDS.running}/results`,
  'halted, files': `#/run/${RUN_IDS.halted}/files`,
  done: `#/run/${RUN_IDS.done}/progress`,
  'done, files': `#/run/${RUN_IDS.done}/files`,
  comparison: `#/compare/${RUN_IDS.done}/${RUN_IDS.withFailures}`,
  failed: `#/run/${RUN_IDS.failed}/progress`,
  'failed, files': `#/run/${RUN_IDS.failed}/files`,
  'failed, results': `#/run/${RUN_IDS.failed}/results`,
  preparing: `#/run/${RUN_IDS.preparing}/progress`,
  cancelled: `#/run/${RUN_IDS.cancelled}/progress`,
  'cancelled, results': `#/run/${RUN_IDS.cancelled}/results`,
  'samples in the queue': `#/run/${RUN_IDS.samples}/progress`,
  'samples in the queue, files': `#/run/${RUN_IDS.samples}/files`,
  'failures, progress': `#/run/${RUN_IDS.withFailures}/progress`,
};

/** Chooses an item of the menu behind a button. */
export const byMenu = (button: RegExp, item: RegExp) => async (page: Page) => {
  await page.getByRole('main').getByRole('button', { name: button }).click();
  await page.getByRole('menuitem', { name: item }).click();
};
/** Of the run on the screen. */
export const byAction = (item: RegExp) => byMenu(/^Actions for /, item);
export const byButton = (name: string) => (page: Page) =>
  page.getByRole('button', { name, exact: true }).click();

export async function goToPlace(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = '${hash}'`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
}

/** Opens the sequence in a row of the table beside it. */
export async function openSequence(page: Page, row: number): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Sequences' });
  await grid.getByRole('row').nth(row).getByRole('gridcell').nth(1).click();
  await expect(page.getByRole('region', { name: 'Sequence', exact: true }).getByRole('figure')).toBeVisible();
}
