import type { Page } from '@playwright/test';
import { RUN_IDS } from '../../../renderer/testing/memoryEngine/runs.ts';
import { open } from '../steps.ts';
import type { GuideCamera } from './guideCamera.ts';

/** Takes a picture of every screen for its page of the guide, with invented contents. */
export async function screens(
  page: Page,
  camera: GuideCamera,
  address: { invented: string; desktop: string },
): Promise<void> {
  const goTo = (place: string) => page.goto(`${address.invented}#/${place}`);
  await page.getByRole('button', { name: 'Later' }).click();
  await open(page, 'New run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  await page.getByRole('button', { name: 'Take this folder' }).click();
  await page.getByText('Used in part').waitFor();
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
  await page.getByText(/^About /).waitFor();
  await camera.take('new-run');
  await goTo(`run/${RUN_IDS.running}/progress`);
  await page.getByRole('heading', { name: 'Devices' }).waitFor();
  await page.waitForTimeout(4000);
  await camera.take('progress');
  await goTo(`run/${RUN_IDS.withFailures}/files`);
  await page.getByRole('button', { name: 'Retry all', exact: true }).waitFor();
  await camera.take('files');
  await goTo(`run/${RUN_IDS.done}/results`);
  await page.getByText('100,000 sequences shown').waitFor();
  await page.getByRole('row').nth(5).waitFor();
  await camera.take('results');
  const table = page.getByRole('grid', { name: 'Sequences' });
  await table.getByRole('columnheader', { name: 'Length' }).getByRole('button').click();
  await page.waitForTimeout(1000);
  await table.getByRole('row').nth(2).click();
  await page.getByText('Scores along the sequence').first().waitFor();
  await camera.take('sequence');
  await page.keyboard.press('Escape');
  await open(page, 'Runs');
  await page.getByText('Waste water, weekly').first().waitFor();
  await camera.take('runs');
  await open(page, 'Computer check');
  await page.getByText('Action needed').waitFor();
  await camera.take('computer-check');
  await open(page, 'Settings');
  await page.getByText('Network and places').waitFor();
  await camera.take('settings');
  await page.goto(`${address.desktop}#/computers`);
  await page.getByText('anna@gpu.example.org').first().waitFor();
  await camera.take('computers');
}
