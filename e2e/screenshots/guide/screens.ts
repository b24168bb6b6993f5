import type { Page } from '@playwright/test';
import { RUN_IDS } from '../../../renderer/testing/memoryEngine/runs.ts';
import { goTo, LONG_MS } from '../../support/window.ts';
import type { GuideCamera } from './guideCamera.ts';
import { openRun, RUNS } from './realRuns.ts';

/** Takes a picture of every screen for its page of the guide: over real runs, but for eight GPUs and other computers. */
export async function screens(
  page: Page,
  camera: GuideCamera,
  address: { invented: string; desktop: string },
): Promise<void> {
  await goTo(page, 'New run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'gut' }).click();
  await page.getByRole('button', { name: 'Take this folder' }).click();
  await page.getByText('4 samples').waitFor({ timeout: LONG_MS });
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
  await page.getByRole('radio', { name: 'Teaching model' }).click({ timeout: LONG_MS });
  await page.getByRole('button', { name: 'Use the teaching model' }).click();
  await page.getByRole('button', { name: 'Start', exact: true }).waitFor({ timeout: LONG_MS });
  await page.waitForTimeout(4000);
  await camera.take('new-run');
  const real = page.url();
  await page.goto(`${address.invented}#/run/${RUN_IDS.running}/progress`);
  await page.getByRole('button', { name: 'Later' }).click();
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  await page.waitForTimeout(4000);
  await camera.take('progress');
  await page.goto(real);
  await openRun(page, RUNS.done, 'files');
  await page.getByRole('button', { name: 'Read it again' }).waitFor();
  await camera.take('files');
  await openRun(page, RUNS.done, 'results');
  await page.getByRole('row').nth(5).waitFor();
  await camera.take('results');
  await goTo(page, 'Runs');
  await page.getByText(RUNS.paused).first().waitFor();
  await camera.take('runs');
  await goTo(page, 'Computer check');
  await page.getByText('Test computation', { exact: true }).waitFor();
  await page.getByText('Checking').first().waitFor({ state: 'detached', timeout: LONG_MS });
  await camera.take('computer-check');
  await goTo(page, 'Settings');
  await page.getByText('Network and places').waitFor();
  await camera.take('settings');
  await page.goto(`${address.desktop}#/computers`);
  await page.getByText('anna@gpu.example.org').first().waitFor();
  await camera.take('computers');
}
