import { join } from 'node:path';
import { expect, test } from '../support/fixtures.ts';
import { writeMixedFolder } from '../support/inputs.ts';
import { drop, expectNoComplaint, isDone, takeTeachingModel } from '../support/window.ts';

test('a dropped folder: what is in it, what cannot be used and why, and the rest runs', async ({
  window,
  places,
}) => {
  const folder = join(places.files, '..', 'from my computer');
  await writeMixedFolder(folder);
  await drop(window, [folder]);

  const start = window.getByRole('button', { name: 'Start', exact: true });
  const notice = window.getByText('3 files cannot be used. The run goes on without');
  await expect(notice).toBeVisible();

  const files = window.getByRole('grid', { name: 'Sequences' });
  const good = files.getByRole('row', { name: /good\.fasta/ });
  await expect(good).toContainText('Used, with notes');
  await good.click();
  await expect(window.getByText(/shorter than a chunk of 500 bp/)).toBeVisible();
  await expect(window.getByRole('figure', { name: /Sequence lengths/ })).toBeVisible();
  await expect(files.getByRole('row', { name: /empty\.fna/ })).toContainText('Used, with notes');
  const complaints = [
    ['cut off.fa.gz', /ends too early|cut off/i],
    ['proteins.fasta', 'The letters are those of proteins, not of DNA.'],
    ['notes.txt', /not.* FASTA/i],
  ] as const;
  for (const [name, complaint] of complaints) {
    const row = files.getByRole('row', { name });
    await expect(row).toContainText('Cannot be used');
    await row.click();
    await expect(window.getByRole('heading', { level: 3, name })).toBeVisible();
    await expect(window.getByRole('listitem').filter({ hasText: complaint }).first()).toBeVisible();
  }
  await expectNoComplaint(window, 'New run with files');

  await window.getByRole('button', { name: 'Remove what cannot be used' }).first().click();
  await takeTeachingModel(window);
  await expect(notice).toBeHidden();
  await start.click();
  await isDone(window);
  await window.getByRole('button', { name: 'See results' }).click();
  await expect(window.getByText('60 sequences shown')).toBeVisible();
});
