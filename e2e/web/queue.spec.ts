import { join } from 'node:path';
import { findChromiumWithScreen, launchOptions } from '../support/findChromium.ts';
import { expect, test } from '../support/fixtures.ts';
import { writeSample } from '../support/inputs.ts';
import { goTo, partsDone, startRun } from '../support/window.ts';

// The Chromium that only runs headless shows no notifications.
test.use({ launchOptions: launchOptions(findChromiumWithScreen()) });

/** As if nobody looked at the page: whoever does needs no notification. */
const KEEP_NOTIFICATIONS = `
  globalThis.kept = [];
  const { Notification } = globalThis;
  globalThis.Notification = class extends Notification {
    constructor(...facts) {
      super(...facts);
      kept.push(this);
    }
  };
  Object.defineProperty(document, 'hidden', { get: () => true });
`;

test('runs wait in an order that can be changed, with their expected starts; a pause is for the user, who says when the next begins; the browser tells of the end', async ({
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

  // Known of the third as well, though this computer has no finished run yet: from the one at work.
  await expect(queue.getByRole('listitem')).toContainText(['At work', /in \d/, /in \d/]);

  await queue.getByRole('button', { name: 'At work' }).click();
  await partsDone(window);
  await window.getByRole('button', { name: 'Pause' }).click();
  await expect(window.getByRole('button', { name: 'Continue', exact: true })).toBeVisible();
  await goTo(window, 'Runs');
  await expect(window.getByRole('button', { name: 'Start now' })).toBeVisible();
  expect(await engine.workers()).toEqual([]);

  await window.context().grantPermissions(['notifications']);
  await window.evaluate(KEEP_NOTIFICATIONS);
  await window.getByRole('button', { name: 'Start now' }).click();
  const row = (name: string) => window.getByRole('row', { name: new RegExp(`^${name}`) });
  for (const name of ['Third', 'Second']) await expect(row(name)).toContainText('Done', { timeout: 60_000 });
  await expect(row('At work')).toContainText('Paused');
  await expect
    .poll(() => window.evaluate('kept.map(({ title, body }) => [title, body])'))
    .toEqual([
      ['Third', 'Done'],
      ['Second', 'Done'],
    ]);
  // A click on one leads to the results.
  await window.evaluate("kept.at(-1).dispatchEvent(new Event('click'))");
  await expect(window.getByRole('heading', { level: 1, name: 'Second' })).toBeVisible();
  await expect(window.getByRole('tab', { name: 'Results' })).toHaveAttribute('aria-selected', 'true');
});
