import { expect, test } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';

test('the first row of a finished run is high on the screen, and stays there when it is ticked', async ({
  page,
}) => {
  const engine = await serveMemoryEngine({ sequences: 2000 });
  await page.goto(`${engine.url}#/run/${RUN_IDS.withFailures}/results`);
  await page.getByRole('button', { name: 'Later' }).click();
  const row = page.getByRole('grid', { name: 'Sequences' }).getByRole('row').nth(1);
  await expect(page.getByText('2,000 sequences shown')).toBeVisible();
  await expect(page.getByRole('link', { name: /^1 file left out/ })).toBeVisible();
  const before = await row.boundingBox();
  await row.getByRole('checkbox').click();
  await expect(page.getByRole('button', { name: 'Shortlist 1' })).toBeVisible();
  expect((await row.boundingBox())?.y).toBe(before?.y);
  expect(before?.y).toBeLessThanOrEqual(330);
  await engine.stop();
});
