import { join } from 'node:path';
import { expect, test } from '../support/fixtures.ts';
import { writeMixedFolder } from '../support/inputs.ts';
import { drop, isDone } from '../support/window.ts';

test('a dropped folder: what is in it, what cannot be used and why, and the rest runs', async ({
  window,
  places,
}) => {
  const folder = join(places.files, '..', 'from my computer');
  await writeMixedFolder(folder);
  await drop(window, [folder]);

  await expect(window.getByText('good.fasta').first()).toBeVisible();
  await expect(window.getByText('Cannot be used').first()).toBeVisible();
  const reason = window.getByText('Cannot start: 3 files cannot be used.');
  await expect(reason).toBeVisible();
  await expect(window.getByRole('button', { name: 'Start', exact: true })).toBeDisabled();
  await window.getByText('cut off.fa.gz').first().click();
  await expect(window.getByText(/ends too early|cut off/i).nth(1)).toBeVisible();

  await window.getByRole('button', { name: 'Remove what cannot be used' }).first().click();
  await window.getByLabel('Demo model').check();
  await expect(reason).toBeHidden();
  await window.getByRole('button', { name: 'Start', exact: true }).click();
  await isDone(window);
});
