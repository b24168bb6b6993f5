import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '../support/fixtures.ts';
import { SAMPLE } from '../support/inputs.ts';
import { drop, expectNoComplaint, goTo, isDone, takeTeachingModel } from '../support/window.ts';

test('a folder with a sample sheet: the same dropped and chosen, corrected, kept over a reload, with its groups and control in the results', async ({
  window,
  places,
}) => {
  const folder = join(places.files, 'plate');
  await mkdir(join(folder, 'deep'), { recursive: true });
  const sample = await readFile(SAMPLE, 'utf8');
  const asRna = sample.replaceAll(/^[^>].*$/gm, (line) => line.replaceAll('T', 'U').replaceAll('t', 'u'));
  await writeFile(join(folder, 'pond_R1.fasta'), sample);
  await writeFile(join(folder, 'pond_R2.fasta'), sample);
  await writeFile(join(folder, 'deep', 'blank.fasta'), asRna);
  await writeFile(join(folder, 'protocol.docx'), 'PK');
  await writeFile(
    join(folder, 'samples.csv'),
    'file,sample,group,note,control\npond_R1.fasta,Pond,water,,\nblank.fasta,Blank,water,no DNA added,yes\n',
  );
  const sheet = window.getByText('Sample sheet: 3 of 3 files, 1 group, 1 control.');
  const leftOut = window.getByText('1 other file of the folder was passed over');
  const unfoldNotes = () => window.getByRole('button', { name: '1 thing to mend' }).click();
  const summary = (files: number, samples: string) =>
    window.getByText(new RegExp(`^${files} files · .* · ${samples}\\b`));

  await drop(window, [folder]);
  await expect(summary(2, '1 sample')).toBeVisible();
  await unfoldNotes();
  await expect(sheet).toBeVisible();
  await expect(leftOut).toBeVisible();
  await expect(window.getByText('plate/protocol.docx')).toBeVisible();
  // One file is RNA, and is counted as soon as its U are read as T.
  await expect(summary(2, '1 sample')).toBeVisible();
  await window.getByRole('button', { name: 'Start over' }).click();

  await window.getByRole('button', { name: 'Choose a folder' }).click();
  const chooser = window.getByRole('dialog');
  await chooser.getByRole('button', { name: 'plate' }).click();
  await chooser.getByRole('button', { name: 'Take this folder' }).click();
  await expect(summary(2, '1 sample')).toBeVisible();
  await unfoldNotes();
  await expect(sheet).toBeVisible();
  await expect(leftOut).toBeVisible();
  await expect(summary(2, '1 sample')).toBeVisible();

  await window.getByRole('button', { name: 'Read U as T' }).click();
  await expect(window.getByText('U is read as T, in all files.')).toBeVisible();
  await expect(summary(3, '2 samples')).toBeVisible();
  // What is said by hand about a sample counts more than the sheet.
  await window.getByRole('button', { name: 'Name samples' }).click();
  const pond = chooser.getByRole('group', { name: 'pond_R1.fasta' });
  await pond.getByLabel('Group').fill('lake');
  await pond.getByLabel('Note').fill('March');
  await expect(
    chooser.getByRole('group', { name: 'blank.fasta' }).getByRole('checkbox', { name: 'Control' }),
  ).toBeChecked();
  await expectNoComplaint(window, 'Name samples');
  await chooser.getByRole('button', { name: 'Save' }).click();
  await window.reload();
  await window.getByRole('button', { name: 'Notes on the files' }).click();
  await expect(sheet).toBeVisible();
  await expect(window.getByText('U is read as T, in all files.')).toBeVisible();
  await expectNoComplaint(window, 'New run with a sample sheet');

  await takeTeachingModel(window);
  await window.getByRole('button', { name: 'Start', exact: true }).click();
  await isDone(window);
  await expect(window.getByText(/the control has/)).toBeVisible();
  await window.getByRole('tab', { name: 'Samples' }).click();
  const rows = window.getByRole('row');
  await expect(rows.filter({ hasText: 'Pond' })).toContainText(/March.*lake/);
  await expect(rows.filter({ hasText: 'Blank' })).toContainText(/Blank.*no DNA added.*water.*yes/);
  await expect(window.getByText('Control: nothing viral is expected in it.', { exact: false })).toBeVisible();
  await window.getByRole('button', { name: 'Name samples' }).click();
  await pond.getByLabel('Group').fill('');
  await chooser.getByRole('button', { name: 'Save' }).click();
  await expect(rows.filter({ hasText: 'March' })).not.toContainText('lake');
});

test('weights dropped on Models are sent, and the screen stays', async ({ window, places }) => {
  const folder = join(places.files, '..', 'weights');
  await mkdir(folder);
  const names = ['esm2.pt', 'dnabert_s.bin', 'tokenizer.json', '300_model.pth', '500_model.pth'];
  const paths = names.map((name) => join(folder, name));
  for (const path of paths) await writeFile(path, 'too short to be weights');
  await goTo(window, 'Models');
  await drop(window, paths);
  const dialog = window.getByRole('dialog', { name: 'I have the files' });
  await expect(dialog).toBeVisible();
  await dialog.getByRole('button', { name: 'Close' }).first().click();
  await expect(dialog).toBeHidden();
  await expect(window.getByRole('heading', { level: 1, name: 'Models' })).toBeVisible();
});

test('a minimum length counts before the start, and in the run, what is shorter; a second look judges more, and the results say which chunks judged', async ({
  window,
  places,
}) => {
  const file = join(places.files, 'short.fasta');
  const letters = (await readFile(SAMPLE, 'utf8')).replaceAll(/^>.*$/gm, '').replaceAll('\n', '');
  const pieces = [letters.slice(0, 300), letters.slice(0, 499), ...(letters.match(/.{500}/g) ?? [])];
  await writeFile(file, pieces.map((piece, i) => `>piece_${i}\n${piece}\n`).join(''));
  await drop(window, [file]);
  await takeTeachingModel(window);
  await window.getByRole('button', { name: 'Change: Computing' }).click();
  await window.getByRole('button', { name: 'Advanced settings' }).click();
  const shortest = window.getByLabel('Minimum length (bp)');
  await shortest.fill('500');
  await shortest.press('Tab');
  await expect(window.getByText('2 shorter sequences left out')).toBeVisible();
  const second = window.getByRole('checkbox', { name: /^Look again in chunks of 300 bp/ });
  await expect(second).not.toBeChecked();
  await window.getByRole('button', { name: 'Start', exact: true }).click();
  await isDone(window);
  const table = window.getByRole('grid', { name: 'Sequences' });
  await expect(table).toHaveAttribute('aria-rowcount', String(pieces.length + 1));
  await table.getByRole('columnheader', { name: 'Length' }).getByRole('button').click();
  await table.press('End');
  await expect(table.getByRole('row').filter({ hasText: 'Below minimum length' })).toHaveCount(2);
  await window.getByRole('button', { name: 'Look again in chunks of 300 bp' }).click();
  await expect(second).toBeChecked();
  await window.getByRole('button', { name: 'Start', exact: true }).click();
  await isDone(window);
  await expect(table.getByRole('columnheader', { name: 'Judged by' })).toBeAttached();
  await table.getByRole('row').nth(1).getByRole('gridcell').nth(1).click();
  const panel = window.getByRole('region', { name: 'Sequence', exact: true });
  await expect(panel.getByText(/^1[vn]$/)).toBeVisible();
  await expect(panel.getByRole('columnheader', { name: 'Judged by' })).toBeVisible();
  await expectNoComplaint(window, 'A sequence of a run with two chunk lengths');
});
