import { expect, test, type Page } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';

test.use({ hasTouch: true });

/** What the bars or steps of a plot show, as the paths by which they are drawn. */
async function shapesOf(page: Page, plot: string, shape: string): Promise<(string | null)[]> {
  const paths = await page.getByRole('figure', { name: plot }).locator(shape).all();
  return Promise.all(paths.map((path) => path.getAttribute('d')));
}

test('the first tap on a plot filters the table and the other plots, but not the plot itself', async ({
  page,
}) => {
  const engine = await serveMemoryEngine({ sequences: 2000 });
  await page.goto(`${engine.url}#/run/${RUN_IDS.done}/plots`);
  const lengths = () => shapesOf(page, 'Viral share by length', '.recharts-bar-rectangle path');
  const scores = () => shapesOf(page, 'Scores by call', '.recharts-area-area');
  const shown = page.getByText(/sequences shown$/);
  await expect(shown).toHaveText('2,000 sequences shown');
  await expect.poll(async () => (await lengths()).length).toBeGreaterThan(2);
  const shares = page.getByRole('figure', { name: 'Viral share by length' });
  for (const tick of ['25%', '50%', '75%'])
    await expect(shares.getByText(tick, { exact: true }).first()).toBeVisible();
  const [allLengths, allScores] = [await lengths(), await scores()];

  await shares.locator('.recharts-bar-rectangle').nth(1).tap();
  await expect.poll(scores).not.toEqual(allScores);
  const ofOneLength = await scores();
  expect(await lengths()).toEqual(allLengths);
  await expect(shown).not.toHaveText('2,000 sequences shown');

  const { x, y, width, height } = (await page
    .getByRole('figure', { name: 'Scores by call' })
    .locator('.recharts-area')
    .first()
    .boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.touchscreen.tap(x + width * 0.97, y + height / 2);
  await expect.poll(lengths).not.toEqual(allLengths);
  expect(await scores()).toEqual(ofOneLength);
  await page.getByRole('button', { name: 'Show in the table' }).click();
  await expect(page.getByRole('grid', { name: 'Sequences' })).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: /^\d+ of 2,000/ })).toBeVisible();
  await engine.stop();
});
