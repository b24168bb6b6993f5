import type { Page } from '@playwright/test';
import type { serveMemoryEngine } from '../../../renderer/testing/serve.ts';
import { open } from '../steps.ts';
import { toTop, type GuideCamera } from './guideCamera.ts';

const RUN_NAME = 'Cohort of 2026, contigs';

/** Shows forty samples and eight GPUs with the in-memory engine, because few computers have both. */
export async function bioinformatician(
  page: Page,
  camera: GuideCamera,
  engine: Awaited<ReturnType<typeof serveMemoryEngine>>,
): Promise<void> {
  await page.getByRole('button', { name: 'Later' }).click();
  await open(page, 'Computer check');
  await page.getByText('Action needed').waitFor();
  await camera.take('computer-check');
  await open(page, 'New run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'cohort-2026' }).click();
  await page.getByRole('dialog').getByText('P01_contigs.fasta.gz').waitFor();
  await camera.take('choose-folder');
  await page.getByRole('button', { name: 'Take this folder' }).click();
  await page.getByText('40 samples').waitFor();
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
  await page.getByText(/^About /).waitFor();
  await camera.take('forty-samples');
  await page.getByRole('button', { name: 'Change: Sequences' }).click();
  await page.getByRole('button', { name: 'Name samples' }).click();
  const first = page.getByRole('dialog').getByRole('textbox').first();
  await first.fill('P01, repeat');
  await camera.take('name-samples');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Hide: Sequences' }).click();
  await page.getByRole('button', { name: 'Change: Computing' }).click();
  await page.getByRole('button', { name: 'Hide: Computing' }).evaluate(toTop);
  await camera.take('eight-gpus');
  await page.getByLabel('Name of the run').fill(RUN_NAME);
  await page.getByLabel('Name of the run').scrollIntoViewIfNeeded();
  await page.getByText(/^About /).waitFor();
  await camera.take('ready');
  await page.getByRole('button', { name: 'Add to queue' }).click();
  await page.getByRole('heading', { name: RUN_NAME }).waitFor();
  await open(page, 'Runs');
  await page.getByText(RUN_NAME).first().waitFor();
  await camera.take('queue');

  const run = engine.runs().find(({ name }) => name === RUN_NAME);
  if (!run) throw new Error('The run is not in the queue');
  for (const { runId, state } of engine.runs())
    if (state.phase === 'running') engine.changeRun(runId, { state: { phase: 'paused', error: null } });
  engine.changeRun(run.runId, { state: { phase: 'running' }, queuePosition: null, fraction: 0.42 });
  await page.getByRole('grid').getByText(RUN_NAME).click();
  await page.getByRole('heading', { name: RUN_NAME, level: 1 }).waitFor();
  await page.mouse.move(0, 0);
  await page.waitForTimeout(4000);
  await camera.take('at-work');
  await page.getByRole('button', { name: 'Curves of each device' }).click();
  await page.getByRole('heading', { name: 'Devices' }).evaluate(toTop);
  await camera.take('devices-over-time');

  // Moves the pointer away, so that no chart shows a tooltip.
  await page.mouse.move(0, 0);
  engine.changeRun(run.runId, {
    state: { phase: 'done', failedParts: 3, failedRecords: 192 },
    fraction: 1,
  });
  const missing = page.getByRole('link', { name: /without a result/ });
  await missing.waitFor();
  await camera.take('not-everything');
  await missing.click();
  await page.getByRole('button', { name: 'Retry all', exact: true }).waitFor();
  await camera.take('failures');
  await page.getByRole('button', { name: 'Retry all', exact: true }).click();
  engine.changeRun(run.runId, {
    state: { phase: 'done', failedParts: 0, failedRecords: 0 },
    computingSeconds: 2520,
    finishedAt: new Date().toISOString(),
  });
  await page.getByRole('tab', { name: 'Samples' }).click();
  await page.getByRole('button', { name: 'P02_contigs' }).waitFor();
  await camera.take('by-sample');
  await page.getByRole('button', { name: 'P02_contigs' }).click();
  await page.getByRole('grid', { name: 'Sequences' }).getByRole('row').nth(5).waitFor();
  await page.mouse.move(0, 0);
  await camera.take('one-sample');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByText('Which sequences').waitFor();
  await camera.take('export');
}
