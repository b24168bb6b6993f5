import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test, type Places } from '../support/fixtures.ts';
import { expectReadableReport } from '../support/report.ts';
import { drop, expectNoComplaint, goTo, LONG_MS } from '../support/window.ts';

const root = join(import.meta.dirname, '..', '..');

test('the first steps, from an empty home to the finished example', async ({ page, startEngine, places }) => {
  const engine = startEngine({ env: { VIRNUCPRO_HOME: await programWithoutPython(places) } });
  await page.goto(await engine.address());
  await expect(page.getByRole('heading', { level: 1, name: 'First steps' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Set up', exact: true })).toBeVisible();
  await expect(page.getByText(join(places.data, 'python'))).toBeVisible();
  await expectNoComplaint(page, 'First steps, nothing set up');

  // One cause appears as one card, and what depends on it waits.
  await goTo(page, 'Computer check');
  await expect(page.getByText('Checked as soon as Python is set up.')).toHaveCount(4);
  await expect(page.getByRole('button', { name: 'Set up', exact: true })).toHaveCount(1);
  await expectNoComplaint(page, 'Computer check, nothing set up');

  // The example starts by setting up what it needs. When it is cancelled, it says what is kept and how to
  // continue.
  await goTo(page, 'New run');
  await page.getByRole('button', { name: 'Run the example' }).click();
  await expect(page.getByText('Starts by itself as soon as the computer is set up.')).toBeVisible();
  await expectNoComplaint(page, 'First steps, setting up');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('What was downloaded is kept')).toBeVisible({ timeout: LONG_MS });
  await expect(page.getByRole('button', { name: 'Continue' })).toBeVisible();

  // Files that are dropped during the set-up are kept.
  const reads = join(places.files, 'reads.fa');
  await writeFile(reads, `>read\n${'ACGT'.repeat(37)}\n`);
  await goTo(page, 'New run');
  await drop(page, [reads]);
  await expect(page.getByText('After the set-up')).toBeVisible();
  await expect(page.getByText('Python is not set up. Your files stay listed.')).toBeVisible();

  // The test does not use the network: the user's own Python replaces the one that would be downloaded.
  await goTo(page, 'Settings');
  await page.getByRole('button', { name: 'Proxy, certificates, mirrors and Python' }).click();
  await saveSetting(page, 'Proxy', 'proxy.example.org');
  await expect(page.getByText('Enter an address that begins with')).toBeVisible();
  await saveSetting(page, 'Python interpreter', join(places.files, 'no-python'));
  await expect(page.getByText('no-python cannot be started.')).toBeVisible({ timeout: LONG_MS });
  await saveSetting(page, 'Python interpreter', await pythonBelow(places));

  // Everything becomes ready at once: the files are inspected, and the requested example is computed.
  await goTo(page, 'First steps');
  await expect(page.getByText(/^Ready: Python/)).toBeVisible({ timeout: LONG_MS });
  await expect(page.getByText('The example is computed:')).toBeVisible({ timeout: LONG_MS });
  await expect(page.getByRole('button', { name: /^Download \(/ }).first()).toBeVisible();
  await expectNoComplaint(page, 'First steps, a model is missing');
  await page.reload();
  await expect(page.getByText('The example is computed:')).toBeVisible();
  await page.getByRole('button', { name: 'See its results' }).click();
  await expect(page.getByText('36 sequences shown')).toBeVisible();
  await page.getByRole('button', { name: 'Report …' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as HTML' }).click(),
  ]);
  const report = join(places.files, download.suggestedFilename());
  await download.saveAs(report);
  await expectReadableReport(page, report);

  // The teaching model is never chosen automatically for the user's own files.
  await goTo(page, 'Computer check');
  await expect(page.getByText('Not ready for real data: no model yet.')).toBeVisible({ timeout: LONG_MS });
  await goTo(page, 'New run');
  await drop(page, [reads]);
  await expect(page.getByText('Used, see note')).toBeVisible({ timeout: LONG_MS });
  await expect(page.getByText('shorter than any model was trained on')).toBeVisible();
  await expect(page.getByText('There is no model for real data')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toBeDisabled();
  await page.getByLabel('Teaching model').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByLabel('Teaching model')).not.toBeChecked();
  await page.getByLabel('Teaching model').click();
  await page.getByRole('button', { name: 'Use the teaching model' }).click();
  await expect(page.getByText('Results will be marked as not for research.')).toBeVisible();
  await expect(page.getByText(/_predictions_NOT_FOR_RESEARCH$/)).toBeVisible({ timeout: LONG_MS });
});

/**
 * A program folder like that of an installation: its Python environment would be among the data, and is
 * missing.
 */
async function programWithoutPython({ files }: Places): Promise<string> {
  const program = join(dirname(files), 'program');
  await mkdir(join(program, 'python-backend'), { recursive: true });
  await symlink(join(root, 'resources'), join(program, 'resources'));
  await symlink(join(root, 'dist'), join(program, 'dist'));
  for (const name of await readdir(join(root, 'python-backend'))) {
    if (!name.startsWith('.')) {
      await symlink(join(root, 'python-backend', name), join(program, 'python-backend', name));
    }
  }
  return program;
}

/** An interpreter in a folder that the page may access. */
async function pythonBelow({ files }: Places): Promise<string> {
  const script = join(files, 'python');
  await writeFile(
    script,
    `#!/bin/sh\nexec "${join(root, 'python-backend', '.venv', 'bin', 'python')}" "$@"\n`,
  );
  await chmod(script, 0o755);
  return script;
}

async function saveSetting(page: Page, label: string, value: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole('button', { name: `Save: ${label}` }).click();
}
