import { expect, test } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';

test('plots show the sequences of the table', async ({ page }) => {
  const engine = await serveMemoryEngine({ sequences: 2000 });
  await page.goto(`${engine.url}#/run/${RUN_IDS.done}/results`);
  await page.getByRole('button', { name: /^[\d,]+ Virus/ }).click();
  const count = page.getByRole('status').filter({ hasText: /^\d+ of 2,000/ });
  const [shown] = /^\d+/.exec(await count.innerText()) ?? [];
  await page.getByRole('tab', { name: 'Plots' }).click();
  await expect(page.getByText(`${shown} sequences shown`)).toBeVisible();
  const shares = page.getByRole('figure', { name: 'Viral share by length' });
  for (const tick of ['25%', '50%', '75%'])
    await expect(shares.getByText(tick, { exact: true }).first()).toBeVisible();
  await expect(
    page.getByRole('figure', { name: 'Scores by call' }).locator('.recharts-area-area'),
  ).toHaveCount(2);
  await page.getByRole('tab', { name: 'Results' }).click();
  await expect(page.getByRole('grid', { name: 'Sequences' })).toBeVisible();
  await engine.stop();
});
