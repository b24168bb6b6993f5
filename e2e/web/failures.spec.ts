import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, openFirstWindow, test } from '../support/fixtures.ts';
import { DEADLY_RESIDUES, SAMPLE, writeMixedFolder, writePoisoned } from '../support/inputs.ts';
import { faultyWorkers } from '../support/partPermits.ts';
import { isDone, LONG_MS, runState, startRun } from '../support/window.ts';

test('a part that kills its workers fails by name; once the cause is fixed a retry completes the run', async ({
  page,
  places,
  startEngine,
}) => {
  const healed = join(places.files, 'healed');
  await mkdir(join(places.files, 'contigs'));
  await writePoisoned(join(places.files, 'contigs', 'poisoned.fa'));
  const engine = startEngine({
    env: { ...faultyWorkers(`die_at:${DEADLY_RESIDUES}`), VIRNUCPRO_HEALED: healed },
  });
  await openFirstWindow(page, engine);
  await startRun(page, 'contigs', 'Deadly');
  await expect(runState(page, 'Done, with failures')).toBeVisible({ timeout: LONG_MS });
  await page.getByRole('link', { name: /without a result/ }).click();
  await expect(page.getByRole('heading', { name: '1 failure' })).toBeVisible();
  await expect(page.getByText('The program stopped during the computation')).toBeVisible();
  const failure = page.getByRole('listitem').filter({ hasText: 'The program stopped' });
  await expect(failure).toContainText(
    /Sequence deadly\s*\S+\.fa\S* · \d attempts? · .*failed while it was computed/,
  );
  await expect(failure).toContainText('What to do:');
  await page.getByRole('button', { name: 'Show log' }).first().click();
  await expect(
    page
      .getByRole('dialog')
      .getByText(/assign 0000/)
      .first(),
  ).toBeVisible();
  await page.keyboard.press('Escape');

  await writeFile(healed, '');
  await page.getByRole('button', { name: 'Retry all', exact: true }).click();
  await isDone(page);
  await page.getByRole('tab', { name: 'Results' }).click();
  await expect(page.getByRole('row', { name: /deadly/ })).not.toContainText('Failed');
});

test('three files that could not be used are one line that opens: one is mended, another chosen for one, one left out', async ({
  window,
  places,
}) => {
  await writeMixedFolder(join(places.files, 'mixed'));
  await writeFile(join(places.files, 'mixed', 'words.fa'), 'no sequences\n');
  const other = await readFile(SAMPLE, 'utf8');
  await writeFile(
    join(places.files, 'nucleotides.fasta'),
    other
      .split(/^(?=>)/m)
      .slice(0, 5)
      .join(''),
  );
  await startRun(window, 'mixed', 'Mixed');
  await expect(runState(window, 'Done, with failures')).toBeVisible({ timeout: LONG_MS });
  await window.getByRole('tab', { name: 'Files and failures' }).click();
  await expect(window.getByRole('heading', { name: '3 files could not be used' })).toBeVisible();
  const reason = window.getByText('Proteins, not DNA', { exact: false });
  await expect(reason).toBeHidden();
  await window.getByRole('button', { name: 'cut off.fa.gz, proteins.fasta, words.fa' }).click();
  await expect(reason).toBeVisible();

  const card = (name: string) => window.getByRole('listitem').filter({ hasText: name });
  await card('proteins.fasta').getByRole('button', { name: 'Read it again' }).click();
  await expect(window.getByRole('alert').filter({ hasText: 'Proteins, not DNA' })).toBeVisible();
  await card('proteins.fasta').getByRole('button', { name: 'Choose another file …' }).click();
  const chooser = window.getByRole('dialog');
  await chooser.getByRole('button', { name: 'Up', exact: true }).click();
  await chooser.getByText('nucleotides.fasta').click();
  await chooser.getByRole('button', { name: 'Take 1 file' }).click();
  await expect(window.getByRole('heading', { name: '2 files could not be used' })).toBeVisible({
    timeout: LONG_MS,
  });
  await expect(runState(window, 'Done, with failures')).toBeVisible({ timeout: LONG_MS });
  await expect(window.getByRole('row', { name: /^nucleotides\.fasta Done 5 / })).toBeVisible();

  await writeFile(join(places.files, 'mixed', 'below', 'cut off.fa.gz'), gzipSync(other));
  await card('cut off.fa.gz').getByRole('button', { name: 'Read it again' }).click();
  await expect(window.getByRole('heading', { name: '1 file could not be used' })).toBeVisible({
    timeout: LONG_MS,
  });
  await expect(runState(window, 'Done, with failures')).toBeVisible({ timeout: LONG_MS });
  await window.getByRole('button', { name: 'Leave out' }).click();
  await isDone(window);
  await window.getByRole('tab', { name: 'Results' }).click();
  await expect(window.getByText('125 sequences shown')).toBeVisible();
});
