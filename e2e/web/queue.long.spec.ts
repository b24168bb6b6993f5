import { join } from 'node:path';
import { findChromiumWithScreen, launchOptions } from '../support/findChromium.ts';
import { expect, testWithPermits as test } from '../support/fixtures.ts';
import { writeSample } from '../support/inputs.ts';
import { goTo, LONG_MS, partsDone, startRun } from '../support/window.ts';

// The headless-only Chromium shows no notifications.
test.use({ launchOptions: launchOptions(findChromiumWithScreen()) });

/** Makes the page appear unattended, since a user who looks at it needs no notification. */
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

test('queued runs can be reordered and show their expected starts; a pause belongs to the user, who decides when the next run starts; the browser reports the end', async ({
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
  await window.getByRole('button', { name: 'Move Third up' }).click();
  await isAbove('Third', 'Second');

  // Only the next one: this computer has no finished run yet, so how long that takes is unknown. A fast computer is done
  // with the first parts before two looks at the run can tell its pace.
  await expect(async () => {
    await permits.give(1);
    await expect(row('Third')).toContainText(/in \d/, { timeout: 1000 });
  }).toPass();

  await row('At work').click();
  await partsDone(window);
  await window.getByRole('button', { name: 'Pause' }).click();
  await expect(window.getByRole('button', { name: 'Continue', exact: true })).toBeVisible();
  await goTo(window, 'Runs');
  await expect(window.getByRole('button', { name: 'Start now' })).toBeVisible();
  expect(engine.workers()).toEqual([]);

  await window.context().grantPermissions(['notifications']);
  await window.evaluate(KEEP_NOTIFICATIONS);
  await permits.lift();
  await window.getByRole('button', { name: 'Start now' }).click();
  for (const name of ['Third', 'Second']) await expect(row(name)).toContainText('Done', { timeout: LONG_MS });
  await expect(row('At work')).toContainText('Paused');
  await expect
    .poll(() => window.evaluate('kept.map(({ title, body }) => [title, body])'))
    .toEqual([
      ['Third', 'Done'],
      ['Second', 'Done'],
    ]);
  // A click on a notification leads to the results.
  await window.evaluate("kept.at(-1).dispatchEvent(new Event('click'))");
  await expect(window.getByRole('heading', { level: 1, name: 'Second' })).toBeVisible();
  await expect(window.getByRole('tab', { name: 'Results' })).toHaveAttribute('aria-selected', 'true');
});
