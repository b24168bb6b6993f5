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

/** A page of one of the invented runs. */
export const ofRun = (run: keyof typeof RUN_IDS, tab = 'progress') => `#/run/${RUN_IDS[run]}/${tab}`;

export const COMPARISON = `#/compare/${RUN_IDS.done}/${RUN_IDS.withFailures}`;

const SCREENS = ['start', 'new-run', 'runs', 'models', 'computer', 'computers', 'settings', 'help'];
const GUIDE = ['first-run', 'requirements', 'biologist', 'peers', 'troubleshooting'];
const RUNS = Object.keys(RUN_IDS) as (keyof typeof RUN_IDS)[];

/** The names of all screens with their addresses. */
export const PLACES = Object.entries({
  ...Object.fromEntries(SCREENS.map((screen) => [screen, `#/${screen}`])),
  ...Object.fromEntries(GUIDE.map((page) => [`guide, ${page}`, `#/guide/${page}`])),
  ...Object.fromEntries(
    ['progress', 'files', 'results'].flatMap((tab) => RUNS.map((run) => [`${run}, ${tab}`, ofRun(run, tab)])),
  ),
  'results, a sequence': ofRun('done', 'results'),
  samples: ofRun('done', 'samples'),
  plots: ofRun('done', 'plots'),
  'other tools': ofRun('done', 'tools'),
  'no other tools': ofRun('teaching', 'tools'),
  comparison: COMPARISON,
  'no such run': '#/run/00000000-0000-4000-8000-000000000000/progress',
});

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
