import type { Locator, Page } from '@playwright/test';

/**
 * The steps that the guide's pictures and the tour share: each waits for what it shows, then takes its
 * picture.
 */
interface Takes {
  take(name: string): Promise<void>;
}

export const LONG_MS = 300_000;

export async function open(page: Page, place: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: place, exact: true }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Shows a computer on which nothing is set up: what will be downloaded, the running set-up, and its end. */
export async function setUp(page: Page, camera: Takes): Promise<void> {
  await page.getByRole('button', { name: 'Set up from an offline folder …' }).waitFor();
  await camera.take('set-up');
  await page.getByRole('button', { name: 'Set up', exact: true }).first().click();
  await page.getByText('Getting PyTorch, the largest part').first().waitFor();
  await camera.take('setting-up');
  await page.getByRole('button', { name: 'Run the example' }).waitFor();
}

export async function runExample(page: Page, camera: Takes, picture: string): Promise<void> {
  await page.getByRole('button', { name: 'Run the example' }).click();
  await page.getByText('The example is computed:').waitFor({ timeout: LONG_MS });
  await camera.take(picture);
}

export async function showResults(page: Page, camera: Takes, picture = 'results'): Promise<void> {
  await page.getByRole('tab', { name: 'Results' }).click();
  await page.getByRole('row').nth(5).waitFor();
  await camera.take(picture);
}

export async function showSequence(
  page: Page,
  camera: Takes,
  row: Locator,
  picture = 'sequence',
): Promise<void> {
  await row.click();
  await page.getByText('Scores along the sequence').first().waitFor();
  await camera.take(picture);
  await page.keyboard.press('Escape');
}

export async function showExport(page: Page, camera: Takes): Promise<void> {
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByText('Which sequences').waitFor();
  await camera.take('export');
  await page.keyboard.press('Escape');
}
