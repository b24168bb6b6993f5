/** What the window was asked for first: a live dashboard of each GPU, and the answer of a finished run. */
import { expect, test } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';

const RUNNING = `#/run/${RUN_IDS.running}/progress`;

test('eight GPUs are on the first screen, under the overall bar, with nine figures each, whatever the number of samples', async ({
  page,
}) => {
  const engine = await serveMemoryEngine({ devices: 8 });
  const run = engine.runs().find(({ runId }) => runId === RUN_IDS.running);
  if (!run) throw new Error('the memory engine has no run at work');
  const [input] = run.plan.inputs;
  const inputs = Array.from({ length: 40 }, (_, sample) => ({
    ...input,
    path: `/data/site_${sample + 1}.fa`,
    sizeBytes: 1e9,
  }));
  engine.changeRun(run.runId, {
    plan: { ...run.plan, inputs } as typeof run.plan,
    samples: inputs.map((_, sample) => `site_${sample + 1}`),
  });
  await page.goto(engine.url + RUNNING);
  const overall = page.getByRole('progressbar', { name: 'Progress of the whole run' });
  await expect(overall).toBeInViewport({ ratio: 1 });
  const table = page.getByRole('region', { name: 'Devices' }).getByRole('table');
  const heads = ['Device', 'State', 'Of the run', 'Parts', 'Sequences/min', 'Speed over the run'];
  await expect(table.getByRole('columnheader')).toHaveText([
    ...heads,
    ...['Load', 'Memory', 'Temperature', 'Power'],
  ]);
  for (let index = 0; index < 8; index++) {
    const row = table.getByRole('row', { name: new RegExp(`^GPU ${index} `) });
    await expect(row).toBeInViewport({ ratio: 1 });
    await expect(row.getByRole('progressbar')).toBeVisible();
    await expect(row).toContainText('23.0 of 141 GB');
    await expect(row.locator('svg').last()).toBeVisible();
  }
  const [bar, devices] = [await overall.boundingBox(), await table.boundingBox()];
  const between = await page.getByRole('main').getByRole('heading', { level: 2 }).first().textContent();
  expect(between).toBe('Devices');
  expect(devices?.y).toBeGreaterThan(bar?.y ?? Number.NaN);
  await engine.stop();
});

test('more devices than fit are shown by node, and unfold', async ({ page }) => {
  const cluster = await serveMemoryEngine({ devices: 32, nodes: 4 });
  await page.goto(cluster.url + RUNNING);
  const node = page.getByRole('button', { name: /^gpu-node-2/ });
  await expect(page.getByRole('row', { name: /^GPU/ })).toHaveCount(0);
  await node.click();
  await expect(page.getByRole('row', { name: /^GPU/ })).toHaveCount(8);
  await cluster.stop();
});

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
