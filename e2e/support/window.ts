import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Locator, type Page } from '@playwright/test';

const LONG_MS = 90_000;

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

/** Everything in one folder of the engine's computer, with the demo model, under a name. */
export async function startRun(page: Page, folder: string, name: string): Promise<void> {
  await goTo(page, 'New run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  const chooser = page.getByRole('dialog');
  const entry = chooser.getByRole('button', { name: folder });
  const up = chooser.getByRole('button', { name: 'Up', exact: true });
  // It opens where a folder was taken last.
  await expect(chooser.locator('ul[aria-busy="false"]')).toBeVisible();
  if (!(await entry.isVisible())) await up.click();
  await entry.click();
  await chooser.getByRole('button', { name: 'Take this folder' }).click();
  await takeDemoModel(page);
  await page.getByLabel('Name of the run').fill(name);
  await page.getByRole('button', { name: /^(Start|Add to queue)$/ }).click({ timeout: LONG_MS });
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible({ timeout: LONG_MS });
}

/** The demo model is taken only after a question. */
export async function takeDemoModel(page: Page): Promise<void> {
  const demo = page.getByRole('radio', { name: 'Demo model' });
  await demo.click({ timeout: LONG_MS });
  await page.getByRole('button', { name: 'Use the demo model' }).click();
  await expect(demo).toBeChecked();
}

/** Parts are among the technical details; the whole of a text, since "Part 1" before "0 parts done" reads as ten. */
export async function partsDone(page: Page): Promise<void> {
  const details = page.locator('details', { has: page.getByText('Technical details', { exact: true }) });
  if ((await details.getAttribute('open')) === null) await details.getByText('Technical details').click();
  await expect(page.getByText(/^[1-9]\d* parts? done$/).first()).toBeVisible({ timeout: LONG_MS });
}

/** The badge beside the run's name. */
export function runState(page: Page, words: string): Locator {
  return page.getByRole('main').getByText(words, { exact: true }).first();
}

export async function isDone(page: Page): Promise<void> {
  await expect(runState(page, 'Done')).toBeVisible({ timeout: LONG_MS });
}

/** Axe finds nothing serious on the screen as it is. In the dark it looks at the contrasts only: the rest is the same. */
export async function expectNothingSerious(page: Page, screen: string): Promise<void> {
  await inScheme(page, 'dark');
  const contrasts = new AxeBuilder({ page }).withRules(['color-contrast']);
  expect(await seriousComplaints(contrasts), `${screen}, dark`).toEqual([]);
  await inScheme(page, 'light');
  expect(await seriousComplaints(new AxeBuilder({ page })), `${screen}, light`).toEqual([]);
}

/** Axe finds nothing at all, in both themes. */
export async function expectNothing(page: Page, screen: string): Promise<void> {
  for (const scheme of ['dark', 'light'] as const) {
    await inScheme(page, scheme);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.target.join(' ') ?? ''}`);
    expect(found, `${screen}, ${scheme}`).toEqual([]);
  }
}

async function inScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
}

async function seriousComplaints(axe: AxeBuilder): Promise<string[]> {
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
}
