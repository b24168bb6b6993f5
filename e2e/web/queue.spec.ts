import { join } from 'node:path';
import { expect, test } from '../support/fixtures.ts';
import { writeSample } from '../support/inputs.ts';
import { goTo, partsDone, startRun } from '../support/window.ts';

test('runs wait in an order that can be changed; a pause is for the user, who says when the next begins', async ({
  window,
  engine,
  places,
}) => {
  await writeSample(join(places.files, 'long', 'contigs.fasta'), 100);
  await writeSample(join(places.files, 'little', 'contigs.fasta'), 1);
  await startRun(window, 'long', 'At work');
  await startRun(window, 'little', 'Second');
  await startRun(window, 'little', 'Third');

  await goTo(window, 'Runs');
  const queue = window
    .getByRole('list')
    .filter({ has: window.getByRole('button', { name: 'Move Third up' }) });
  await expect(queue.getByRole('listitem')).toContainText(['At work', 'Second', 'Third']);
  await queue.getByRole('button', { name: 'Move Third up' }).click();
  await expect(queue.getByRole('listitem')).toContainText(['At work', 'Third', 'Second']);

  await queue.getByRole('button', { name: 'At work' }).click();
  await partsDone(window);
  await window.getByRole('button', { name: 'Pause' }).click();
  await expect(window.getByRole('button', { name: 'Continue', exact: true })).toBeVisible();
  await goTo(window, 'Runs');
  await expect(window.getByRole('button', { name: 'Start now' })).toBeVisible();
  expect(await engine.workers()).toEqual([]);

  await window.getByRole('button', { name: 'Start now' }).click();
  const row = (name: string) => window.getByRole('row', { name: new RegExp(`^${name}`) });
  for (const name of ['Third', 'Second']) await expect(row(name)).toContainText('Done', { timeout: 60_000 });
  await expect(row('At work')).toContainText('Paused');
});
