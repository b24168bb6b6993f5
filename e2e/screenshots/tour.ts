import type { Page } from '@playwright/test';
import { isDone, takeTeachingModel } from '../support/window.ts';
import type { Camera } from './camera.ts';
import { LONG_MS, open, runExample, showExport, showResults, showSequence } from './steps.ts';

/** Walks through the window like a new user, and takes a picture of every screen and state on the way. */
export async function firstStart(page: Page, camera: Camera): Promise<void> {
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  await camera.take('first-steps');
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.getByRole('heading', { name: 'New run' }).waitFor();
  await camera.take('new-run-empty');
  await open(page, 'Runs');
  await page.getByText('No runs yet').waitFor();
  await camera.take('runs-empty');
}

export async function example(page: Page, camera: Camera): Promise<void> {
  await open(page, 'New run');
  await runExample(page, camera, 'example-done');
  await showResults(page, camera, 'example-results');
  await showSequence(page, camera, page.getByRole('row', { name: /crassphage_3/ }), 'example-sequence');
}

export async function newRun(page: Page, camera: Camera, folderName: string): Promise<void> {
  await open(page, 'New run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  await page.getByRole('button', { name: folderName }).click();
  await page.getByText('contigs.fasta').waitFor();
  await camera.take('choose-folder');
  await page.getByRole('button', { name: 'Take this folder' }).click();
  await page.getByText('Cannot start').waitFor();
  await page.getByText('Reading …').first().waitFor({ state: 'detached' });
  await camera.take('new-run-problems');
  await page.getByRole('button', { name: 'Remove what cannot be used' }).first().click();
  await takeTeachingModel(page);
  await page.getByRole('button', { name: 'Change: Computing' }).click();
  await page.getByText('Advanced settings').click();
  await page.getByText('Advanced settings').scrollIntoViewIfNeeded();
  await camera.take('new-run-advanced');
  await page.getByRole('button', { name: 'Hide: Computing' }).click();
  await page.getByRole('heading', { name: 'New run' }).scrollIntoViewIfNeeded();
  await camera.take('new-run');
}

export async function startNamed(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name of the run').fill(name);
  const start = page.getByRole('button', { name: /^(Start|Add to queue)$/ });
  await start.click({ timeout: LONG_MS });
  await page.getByRole('heading', { name }).waitFor();
}

export async function addFolder(page: Page, folderName: string): Promise<void> {
  await open(page, 'New run');
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  // The chooser opens in the last used folder, which is beside this one.
  await page.getByRole('button', { name: 'Up', exact: true }).click();
  await page.getByRole('button', { name: folderName }).click();
  await page.getByRole('button', { name: 'Take this folder' }).click();
  await takeTeachingModel(page);
}

/** Shows a long run in progress. */
export async function atWork(page: Page, camera: Camera, runName: string): Promise<void> {
  await openRun(page, runName);
  await page.getByRole('tab', { name: 'Progress' }).click();
  await page
    .getByText(/^[1-9]\d* parts? done$/)
    .first()
    // The text is in a collapsed section, which stays closed in the pictures.
    .waitFor({ state: 'attached', timeout: LONG_MS });
  await page.waitForTimeout(6000);
  await camera.take('run-progress');
  await page.getByRole('button', { name: 'Stop …' }).click();
  await page.getByRole('menuitem', { name: /Discard/ }).waitFor();
  await camera.take('run-stop-menu');
  await page.getByRole('menuitem', { name: /Discard/ }).click();
  await page.getByText('Discard this run?').waitFor();
  await camera.take('run-stop-now');
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: /Files and failures/ }).click();
  await page.getByRole('row').nth(2).waitFor();
  await camera.take('run-files');
}

export async function queue(page: Page, camera: Camera): Promise<void> {
  await open(page, 'Runs');
  await page
    .getByRole('button', { name: /^Move .* up$/ })
    .first()
    .waitFor();
  await camera.take('runs-queue');
}

export async function paused(page: Page, camera: Camera, runName: string): Promise<void> {
  await openRun(page, runName);
  await page.getByRole('tab', { name: 'Progress' }).click();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Continue', exact: true }).waitFor({ timeout: LONG_MS });
  await camera.take('run-paused');
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor({ timeout: LONG_MS });
}

export async function results(page: Page, camera: Camera, runName: string): Promise<void> {
  await openRun(page, runName);
  await isDone(page);
  await showResults(page, camera);
  await page.getByRole('slider', { name: 'Score, at least' }).focus();
  for (let step = 0; step < 50; step++) await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(800);
  await camera.take('results-filtered');
  await page.getByRole('columnheader', { name: 'Length' }).getByRole('button').click();
  await page.waitForTimeout(800);
  // The table of the run's samples comes before it.
  const sequences = page.getByRole('grid', { name: 'Sequences' });
  await showSequence(page, camera, sequences.getByRole('row').nth(3));
  await showExport(page, camera);
}

export async function restOfTheWindow(page: Page, camera: Camera): Promise<void> {
  await open(page, 'Models');
  await page
    .getByRole('button', { name: /^Check the model/ })
    .first()
    .waitFor();
  await camera.take('models');
  await open(page, 'Computer check');
  await page.getByText('Checking this computer').waitFor({ state: 'detached', timeout: LONG_MS });
  await camera.take('computer-check');
  await page.getByRole('button', { name: 'Copy diagnostics' }).click();
  await page.getByText('This is all that will be copied').waitFor();
  await page.getByText('Loading …').waitFor({ state: 'detached', timeout: LONG_MS });
  await camera.take('diagnostics');
  await page.keyboard.press('Escape');
  await open(page, 'Settings');
  await camera.take('settings');
  await open(page, 'Help');
  await camera.take('help');
  await open(page, 'Runs');
  await page
    .getByRole('button', { name: /^Actions for/ })
    .last()
    .click();
  await page.getByRole('menuitem', { name: 'Delete …' }).waitFor();
  await camera.take('run-menu');
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await page.getByText(/The folder takes/).waitFor();
  await camera.take('delete');
  await page.keyboard.press('Escape');
}

export async function german(page: Page, camera: Camera): Promise<void> {
  await open(page, 'Settings');
  await page.getByRole('combobox', { name: 'Language' }).click();
  await page.getByRole('option', { name: 'Deutsch' }).click();
  await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
  await camera.take('settings-german');
  await page.getByRole('combobox', { name: 'Sprache' }).click();
  await page.getByRole('option', { name: 'English' }).click();
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
}

export async function openRun(page: Page, name: string): Promise<void> {
  // A run that was just started appears at the top of the list, so the row may move away under the pointer.
  const heading = page.getByRole('heading', { name, level: 1 });
  for (let attempt = 0; attempt < 5 && !(await heading.isVisible()); attempt++) {
    await open(page, 'Runs');
    await page.getByRole('row', { name: new RegExp(name) }).click();
    await heading.waitFor({ timeout: 3000 }).catch(() => undefined);
  }
  await heading.waitFor();
}
