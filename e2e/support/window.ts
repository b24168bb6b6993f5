import { expect, type Locator, type Page } from '@playwright/test';
import { violations } from './axe.ts';

/** For whatever waits for Python, or for a run, on what may be a busy machine. */
export const LONG_MS = 300_000;

export async function goTo(page: Page, place: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: place, exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: place })).toBeVisible();
}

/** Drops files and folders of this computer on the middle of the window, as the system would. */
export async function drop(page: Page, paths: string[]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devtools.send('Input.dispatchDragEvent', { type, x: 700, y: 450, data });
  }
  await devtools.detach();
}

/**
 * Starts a run of everything in one folder on the engine's computer, with the teaching model, under a name;
 * `change` can change its settings before.
 */
export async function startRun(
  page: Page,
  folder: string,
  name: string,
  change?: () => Promise<void>,
): Promise<void> {
  await goTo(page, 'New run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  const chooser = page.getByRole('dialog');
  const entry = chooser.getByRole('button', { name: folder });
  const up = chooser.getByRole('button', { name: 'Up', exact: true });
  // The chooser opens in the last used folder.
  await expect(chooser.locator('ul[aria-busy="false"]')).toBeVisible();
  if (!(await entry.isVisible())) await up.click();
  await entry.click();
  await chooser.getByRole('button', { name: 'Take this folder' }).click();
  await takeTeachingModel(page);
  await page.getByLabel('Name of the run').fill(name);
  await change?.();
  await page.getByRole('button', { name: /^(Start|Add to queue)$/ }).click({ timeout: LONG_MS });
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible({ timeout: LONG_MS });
}

/** The window asks for a confirmation before it uses the teaching model. */
export async function takeTeachingModel(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'Teaching model' }).click({ timeout: LONG_MS });
  await page.getByRole('button', { name: 'Use the teaching model' }).click();
  await expect(page.getByRole('region', { name: 'Model' })).toContainText('Teaching model');
}

export async function partsDone(page: Page): Promise<void> {
  const parts = page.getByRole('cell', { name: /^[1-9]\d* parts? done$/ });
  await expect(parts.first()).toBeVisible({ timeout: LONG_MS });
}

/** The badge beside the run's name. */
export function runState(page: Page, words: string): Locator {
  return page.getByRole('main').getByText(words, { exact: true }).first();
}

export async function isDone(page: Page): Promise<void> {
  await expect(runState(page, 'Done')).toBeVisible({ timeout: LONG_MS });
}

/** Expects that axe finds nothing on the current screen. */
export async function expectNoComplaint(page: Page, screen: string): Promise<void> {
  expect(await complaints(page, screen)).toEqual([]);
}

/**
 * All findings of axe, on the whole page or within a selector. In the dark theme only the contrasts are
 * checked, because the rest is the same.
 */
export async function complaints(page: Page, screen: string, within?: string): Promise<string[]> {
  await inScheme(page, 'dark');
  const dark = await violations(page, { within, rules: ['color-contrast'] });
  await inScheme(page, 'light');
  const light = await violations(page, { within });
  return [...dark, ...light].map((found) => `${screen}: ${found}`);
}

async function inScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
}
