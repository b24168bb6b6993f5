import type { Page } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import type { Camera } from './camera.ts';
import { open } from './steps.ts';

/**
 * States that few computers show: eight busy GPUs, failed parts, a full disk, a hundred thousand sequences.
 */
export async function eightGpus(page: Page, camera: Camera, address: string): Promise<void> {
  const goTo = (place: string) => page.goto(`${address}#/${place}`);
  await goTo('new-run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  await page.getByRole('button', { name: 'Take this folder' }).click();
  await page.getByText('Used in part').waitFor();
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
  await camera.take('gpus-new-run-problems');
  await page.getByRole('button', { name: 'Remove what cannot be used' }).first().click();
  await page.getByText(/^About /).waitFor();
  await page.getByRole('button', { name: 'Change: Computing' }).click();
  await page.getByText('Advanced settings').scrollIntoViewIfNeeded();
  await camera.take('gpus-new-run');

  await goTo(`run/${RUN_IDS.running}/progress`);
  await page.getByText('Working').first().waitFor();
  await page.waitForTimeout(4000);
  await camera.take('gpus-run');
  await page.getByRole('heading', { name: 'Speed over time' }).scrollIntoViewIfNeeded();
  await camera.take('gpus-run-lower');
  await goTo(`run/${RUN_IDS.withFailures}/progress`);
  await page.getByText('Done, but not everything').waitFor();
  await camera.take('gpus-done-with-failures');
  await page.getByRole('button', { name: 'See what is missing' }).click();
  await page.getByRole('button', { name: 'Retry all', exact: true }).waitFor();
  await camera.take('gpus-failed-parts');
  await goTo(`run/${RUN_IDS.halted}/progress`);
  await page.getByText('Disk is full').waitFor();
  await camera.take('gpus-halted');
  await goTo(`run/${RUN_IDS.queuedFirst}/progress`);
  await page.getByText('Waiting.').waitFor();
  await camera.take('gpus-queued');

  await goTo(`run/${RUN_IDS.done}/results`);
  await page.getByText('100,000 sequences shown').waitFor();
  await page.waitForTimeout(1000);
  await camera.take('gpus-results');
  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Length, at least').waitFor();
  await camera.take('gpus-results-filters');
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Length' }).getByRole('button').click();
  await page.waitForTimeout(1000);
  await page.getByRole('grid', { name: 'Sequences' }).getByRole('row').nth(2).click();
  await page.getByText('Scores along the sequence').first().waitFor();
  await page.waitForTimeout(500);
  await camera.take('gpus-sequence');
  await page.keyboard.press('Escape');

  await open(page, 'Runs');
  await page.getByText('Waste water, weekly').first().waitFor();
  await camera.take('gpus-runs');
  await open(page, 'Computer check');
  await page.getByText('Action needed').waitFor();
  await camera.take('gpus-computer-check');
  await page.getByRole('button', { name: 'Repair' }).click();
  await page.getByText(/^Step \d of \d/).waitFor();
  await camera.take('gpus-repair');
}
