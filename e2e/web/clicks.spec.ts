import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '../support/fixtures.ts';
import { writeSample } from '../support/inputs.ts';
import { drop, isDone } from '../support/window.ts';

/** The teaching model takes two, where a published model would take none. */
const MOST_CLICKS = 5;

test('from the drop of a file to the saved report it takes at most five clicks', async ({
  page,
  engine,
  places,
}) => {
  const file = join(places.files, 'pond.fasta');
  await writeSample(file, 2);
  await page.addInitScript(COUNT_ACTIONS);
  await page.goto(await engine.address());
  await expect(page.getByRole('heading', { level: 1, name: 'First steps' })).toBeVisible();

  await drop(page, [file]);
  await page.getByRole('radio', { name: 'Teaching model' }).click();
  await page.getByRole('button', { name: 'Use the teaching model' }).click();
  const start = page.getByRole('button', { name: 'Start', exact: true });
  await expect(start).toBeEnabled();
  await start.click();
  await expect(page.getByRole('tab', { name: /^(Progress|How it ran)$/ })).toBeVisible();
  await isDone(page);
  // The results open by themselves, the best evidence first.
  const hit = page
    .getByRole('grid', { name: 'Sequences' })
    .getByRole('row')
    .nth(1)
    .getByRole('gridcell')
    .nth(1);
  const name = await hit.innerText();
  await page.getByRole('button', { name: 'Report …' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as HTML' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toContain(name);

  const actions = await page.evaluate<string[]>('window.userActions');
  expect(actions[0]).toMatch(/^drop/);
  expect(actions.slice(1), actions.join('\n')).toHaveLength(MOST_CLICKS);
});

/** The page itself lists every press, key and drop that it gets; it is not loaded again on the way. */
const COUNT_ACTIONS = `
  window.userActions = [];
  for (const type of ['pointerdown', 'keydown', 'drop'])
    addEventListener(type, ({ isTrusted, target }) => {
      if (isTrusted) window.userActions.push(type + ' ' + target.textContent.trim().slice(0, 40));
    }, true);
`;
