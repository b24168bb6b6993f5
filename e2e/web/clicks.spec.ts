import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '../support/fixtures.ts';
import { writeSample } from '../support/inputs.ts';
import { drop, isDone } from '../support/window.ts';

const MOST_ACTIONS = 11;

test('from the drop of a file to the saved report it takes at most eleven clicks, drops and keys', async ({
  page,
  engine,
  places,
}, info) => {
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
  await hit.click();
  await expect(page.getByRole('region', { name: 'Sequence', exact: true })).toContainText(name);
  await page.keyboard.press('s');
  await expect(page.getByRole('button', { name: 'Shortlist 1' })).toBeVisible();
  await page.getByRole('button', { name: 'Report …' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as HTML' }).click(),
  ]);
  expect(await readFile(await download.path(), 'utf8')).toContain(name);

  const actions = await page.evaluate<string[]>('window.userActions');
  info.annotations.push({ type: 'actions', description: actions.join('\n') });
  expect(actions.length, actions.join('\n')).toBeLessThanOrEqual(MOST_ACTIONS);
  // Each step above is among them.
  expect(actions.filter((action) => action.startsWith('drop'))).toHaveLength(1);
  expect(actions.filter((action) => action.startsWith('pointerdown')).length).toBeGreaterThanOrEqual(6);
});

/** The page itself lists every press, key and drop that it gets; it is not loaded again on the way. */
const COUNT_ACTIONS = `
  window.userActions = [];
  for (const type of ['pointerdown', 'keydown', 'drop'])
    addEventListener(type, ({ isTrusted, target }) => {
      if (isTrusted) window.userActions.push(type + ' ' + target.textContent.trim().slice(0, 40));
    }, true);
`;
