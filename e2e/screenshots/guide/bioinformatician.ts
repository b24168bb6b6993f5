import type { Page } from '@playwright/test';
import type { serveMemoryEngine } from '../../../renderer/testing/serve.ts';
import { LONG_MS, open } from '../steps.ts';
import { toTop, type GuideCamera } from './guideCamera.ts';
import { COHORT, openRun, RUNS } from './realRuns.ts';

const RUN_NAME = 'Cohort of 2026, contigs';

/**
 * Shows forty samples over the real engine; eight GPUs, which few computers have, and a package to repair over the
 * in-memory engine.
 */
export async function bioinformatician(
  invented: Page,
  real: Page,
  camera: GuideCamera,
  engine: Awaited<ReturnType<typeof serveMemoryEngine>>,
): Promise<void> {
  await invented.getByRole('button', { name: 'Later' }).click();
  await open(invented, 'Computer check');
  await invented.getByText('Action needed').waitFor();
  await camera.take('computer-check');

  camera.page = real;
  await openRun(real, RUNS.paused, 'progress');
  await real.getByRole('button', { name: 'Continue', exact: true }).first().click();
  await chooseCohort(real, camera);
  await real.getByRole('radio', { name: 'Teaching model' }).click({ timeout: LONG_MS });
  await real.getByRole('button', { name: 'Use the teaching model' }).click();
  await real.getByLabel('Name of the run').fill(RUN_NAME);
  await real.getByRole('button', { name: 'Add to queue' }).waitFor({ timeout: LONG_MS });
  await real.waitForTimeout(4000);
  await camera.take('forty-samples');
  await real.getByRole('button', { name: 'Name samples' }).click();
  await real.getByRole('dialog').getByRole('textbox').first().fill('P01, repeat');
  await camera.take('name-samples');
  await real.getByRole('dialog').getByRole('button', { name: 'Save' }).click();

  camera.page = invented;
  await chooseCohort(invented);
  await invented.getByText(/^About /).waitFor();
  await invented.getByLabel('Name of the run').fill(RUN_NAME);
  await invented.getByRole('button', { name: 'Change: Computing' }).click();
  await invented.getByRole('button', { name: 'Hide: Computing' }).evaluate(toTop);
  await camera.take('eight-gpus');
  await invented.getByRole('button', { name: 'Add to queue' }).click();
  await invented.getByRole('heading', { name: RUN_NAME }).waitFor();

  camera.page = real;
  await real.getByRole('button', { name: 'Add to queue' }).click();
  await real.getByRole('heading', { name: RUN_NAME }).waitFor();
  await open(real, 'Runs');
  await real.getByRole('grid').getByText(RUN_NAME).waitFor();
  await camera.take('queue');
  await openRun(real, RUNS.paused, 'progress');
  await real.getByRole('button', { name: 'Pause', exact: true }).click();
  // After a pause nothing starts by itself.
  await open(real, 'Runs');
  await real.getByRole('button', { name: 'Start now' }).click({ timeout: LONG_MS });

  camera.page = invented;
  const run = engine.runs().find(({ name }) => name === RUN_NAME);
  if (!run) throw new Error('The run is not in the queue');
  for (const { runId, state } of engine.runs())
    if (state.phase === 'running') engine.changeRun(runId, { state: { phase: 'paused', error: null } });
  engine.changeRun(run.runId, { state: { phase: 'running' }, queuePosition: null, fraction: 0.42 });
  await openRun(invented, RUN_NAME, 'progress');
  await invented.waitForTimeout(4000);
  await camera.take('at-work');
  await invented.getByRole('button', { name: 'Curves of each device' }).click();
  await invented.getByRole('heading', { name: 'Devices' }).evaluate(toTop);
  await camera.take('devices-over-time');

  camera.page = real;
  await openRun(real, RUN_NAME, 'progress');
  const leftOut = real.getByRole('link', { name: '1 file left out' });
  await leftOut.waitFor({ timeout: 2 * LONG_MS });
  await real.getByRole('grid', { name: 'Sequences' }).getByRole('row').nth(5).waitFor();
  await camera.take('not-everything');
  await leftOut.click();
  await real.getByRole('button', { name: 'Read it again' }).waitFor();
  await camera.take('failures');
  await real.getByRole('tab', { name: 'Samples' }).click();
  await real.getByRole('button', { name: 'P02_contigs' }).waitFor();
  await camera.take('by-sample');
  await real.getByRole('button', { name: 'P02_contigs' }).click();
  await real.getByRole('grid', { name: 'Sequences' }).getByRole('row').nth(5).waitFor();
  // Moves the pointer away, so that no chart shows a tooltip.
  await real.mouse.move(0, 0);
  await camera.take('one-sample');
  await real.getByRole('button', { name: 'Export' }).click();
  await real.getByText('Which sequences').waitFor();
  await camera.take('export');
}

async function chooseCohort(page: Page, camera?: GuideCamera): Promise<void> {
  await open(page, 'New run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  await page.getByRole('dialog').getByRole('button', { name: COHORT.folder }).click();
  await page.getByRole('dialog').getByText('P01_contigs.fasta.gz').waitFor();
  await camera?.take('choose-folder');
  await page.getByRole('button', { name: 'Take this folder' }).click();
  await page.getByText(`${COHORT.samples} samples`).waitFor({ timeout: LONG_MS });
  await page.getByText('Reading …').first().waitFor({ state: 'detached', timeout: LONG_MS });
}
