import { join } from 'node:path';
import { expect, testWithPermits as test } from '../support/fixtures.ts';
import { writeSample } from '../support/inputs.ts';
import { goTo, LONG_MS, partsDone, startRun } from '../support/window.ts';

test('queued runs wait in their order; a pause belongs to the user, who decides when the next run starts', async ({
  window,
  engine,
  places,
  permits,
}) => {
  await writeSample(join(places.files, 'long', 'contigs.fasta'), 2);
  await writeSample(join(places.files, 'little', 'contigs.fasta'), 1);
  await startRun(window, 'long', 'At work');
  await startRun(window, 'little', 'Second');
  await startRun(window, 'little', 'Third');

  await goTo(window, 'Runs');
  const row = (name: string) =>
    window.getByRole('row').filter({ has: window.getByRole('gridcell', { name, exact: true }) });
  const isAbove = (one: string, other: string) =>
    expect
      .poll(async () => ((await row(one).boundingBox())?.y ?? 0) < ((await row(other).boundingBox())?.y ?? 0))
      .toBe(true);
  await isAbove('At work', 'Second');
  await isAbove('Second', 'Third');

  await row('At work').click();
  await partsDone(window);
  await window.getByRole('button', { name: 'Pause' }).click();
  await expect(window.getByRole('button', { name: 'Continue', exact: true })).toBeVisible();
  await goTo(window, 'Runs');
  await expect(window.getByRole('button', { name: 'Start now' })).toBeVisible();
  expect(engine.workers()).toEqual([]);

  await permits.lift();
  await window.getByRole('button', { name: 'Start now' }).click();
  for (const name of ['Second', 'Third']) await expect(row(name)).toContainText('Done', { timeout: LONG_MS });
  await expect(row('At work')).toContainText('Paused');
});
