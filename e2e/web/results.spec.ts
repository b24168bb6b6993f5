import { test, expect, type Page } from '@playwright/test';
import { MADE_COMPUTERS } from '../../renderer/testing/memoryEngine/router/computersRouter.ts';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';
import { byButton, COMPARISON, goToPlace, ofRun, openSequence, SIZES } from '../support/places.ts';

test.describe.configure({ mode: 'parallel' });

/** The lowest position at which the first row may start. */
const FIRST_ROW = [
  [{ width: 1440, height: 900 }, 330],
  [{ width: 1100, height: 700 }, 330],
  [SIZES.magnified, 380],
  [SIZES.narrow, 430],
] as const;

/** What can be pressed on the results, but the ticks of the rows. */
const CONTROLS = 'main :is(button, a[href], select, input):not([role="gridcell"] *)';
const MOST_CONTROLS = 24;

async function expectFewControls(page: Page): Promise<void> {
  expect(await page.locator(CONTROLS).filter({ visible: true }).count()).toBeLessThanOrEqual(MOST_CONTROLS);
}

test('the table fills the page, also with fifty samples and the tables of two tools: its first row is visible, and only it scrolls', async ({
  page,
}) => {
  const engine = await serveMemoryEngine({ sequences: 2000, samples: 50 });
  for (const [size, most] of FIRST_ROW) {
    await page.setViewportSize(size);
    await page.goto(engine.url);
    await goToPlace(page, ofRun('done', 'results'));
    // The window asks about another run that was interrupted.
    const later = page.getByRole('button', { name: 'Later' });
    if (await later.isVisible()) await later.click();
    const row = page.getByRole('grid', { name: 'Sequences' }).getByRole('row').nth(1);
    await expect(row.getByRole('checkbox')).toBeVisible();
    await expect(page.getByText(/sequences could not be judged/)).toBeVisible();
    const { y = Infinity, height = 0 } = (await row.boundingBox()) ?? {};
    expect(y).toBeLessThan(most);
    expect(y + height).toBeLessThan(size.height);
    // A tick brings the shortlist's button, a call a filter: the table stays where it is.
    await row.getByRole('checkbox').click();
    await expect(page.getByRole('button', { name: 'Shortlist 1' })).toBeVisible();
    await page.getByRole('group', { name: 'Calls' }).getByRole('button').first().click();
    await expect(page.getByRole('button', { name: 'Clear filters' }).first()).toBeAttached();
    await expectFewControls(page);
    expect((await row.boundingBox())?.y).toBe(y);
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await row.getByRole('checkbox').click();
    if (size.height >= 700)
      expect(
        await page.evaluate(
          '(main => main.scrollHeight - main.clientHeight)(document.querySelector("main"))',
        ),
      ).toBe(0);
  }
  await engine.stop();
});

test('the results of a run show few controls in each of its states, with a ticked row and a chosen call', async ({
  page,
}) => {
  const engine = await serveMemoryEngine({ sequences: 2000 });
  for (const name of ['done', 'withFailures', 'running', 'interrupted', 'halted'] as const) {
    await page.goto(`${engine.url}${ofRun(name, 'results')}`);
    const later = page.getByRole('button', { name: 'Later' });
    if (name === 'done') await later.click();
    const row = page.getByRole('grid', { name: 'Sequences' }).getByRole('row').nth(1);
    await row.getByRole('checkbox').click();
    await expect(page.getByRole('button', { name: 'Shortlist 1' })).toBeVisible();
    if (name === 'withFailures') {
      await expect(page.getByRole('link', { name: /^1 file left out/ })).toBeVisible();
      expect((await row.boundingBox())?.y).toBeLessThanOrEqual(330);
    }
    await page.getByRole('group', { name: 'Calls' }).getByRole('button').first().click();
    await expect(page.getByRole('button', { name: 'Clear filters' })).toBeVisible();
    await expect(later).toBeHidden();
    await expectFewControls(page);
  }
  await engine.stop();
});

test('the first run that waits is started from the list once nothing else computes', async ({ page }) => {
  const engine = await serveMemoryEngine();
  for (const run of ['running', 'preparing'] as const) engine.changeRun(RUN_IDS[run], { interrupted: true });
  await page.goto(`${engine.url}#/runs`);
  await byButton('Later')(page);
  await byButton('Start now')(page);
  await expect(page.getByRole('button', { name: 'Start now' })).toBeHidden();
  await goToPlace(page, ofRun('queuedFirst'));
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  await engine.stop();
});

test.describe('a window over invented runs', () => {
  let engine: Awaited<ReturnType<typeof serveMemoryEngine>>;
  test.beforeAll(async () => {
    engine = await serveMemoryEngine({ sequences: 2000, devices: 8, computers: MADE_COMPUTERS });
  });
  test.afterAll(() => engine.stop());

  test('keys lead to every screen and back, and the focus is never lost', async ({ page }) => {
    await page.goto(engine.url);
    await goToPlace(page, ofRun('running'));
    await page.getByRole('link', { name: 'Runs', exact: true }).press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Runs' })).toBeFocused();
    await goToPlace(page, ofRun('done'));
    const menu = page.getByRole('main').getByRole('button', { name: /^Actions for / });
    for (const item of ['Name, tags and note …', 'Verify …']) {
      await menu.press('Enter');
      await page.getByRole('menuitem', { name: item }).press('Enter');
      await expect(page.getByRole('dialog')).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
      await expect(menu, item).toBeFocused();
    }
    await goToPlace(page, ofRun('running'));
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    const onward = page.locator('header').getByRole('button', { name: 'Continue' });
    await expect(onward).toBeVisible();
    await expect.poll(() => page.evaluate<boolean>('document.activeElement !== document.body')).toBe(true);
    // The following tests expect the run in this state.
    await onward.click();
    await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  });

  test('two runs are ticked and compared: calls, scores, and the sequences that changed', async ({
    page,
  }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    await goToPlace(page, '#/runs');
    for (const name of ['Lake plankton', 'Sea water, depth profile'])
      await page.getByRole('checkbox', { name: `Tick ${name} to compare` }).check();
    await byButton('Compare these two')(page);
    await expect(page.getByText(/sequences are in both runs; .* have the same call/)).toBeVisible();
    await expect(page.getByRole('table', { name: 'Calls', exact: true }).getByRole('row')).toHaveCount(5);
    await expect(page.getByText(/sequences have a score in both/)).toBeVisible();
    await expect(
      page.getByRole('table', { name: 'Agreement by sample and file' }).getByRole('row'),
    ).toHaveCount(6);
    const list = page.getByRole('grid', { name: 'Sequences whose call changed' });
    const changed = list.locator('[aria-rowindex="2"]');
    // There is a ribbon for each run, which leads to the sequence there.
    await expect(changed.getByRole('button')).toHaveCount(2);
    const name = await changed.getByRole('gridcell').first().innerText();
    // The last one can be reached, too.
    const last = Number(await list.getAttribute('aria-rowcount'));
    await list.press('End');
    await expect(list.locator(`[aria-rowindex="${last}"]`).getByRole('button')).toHaveCount(2);
    await list.press('Home');
    // It can be put on the shortlist of either run.
    await changed.getByRole('checkbox', { name: `${name} on the shortlist of Lake plankton` }).click();
    await changed.getByRole('button').first().click();
    const panel = page.getByRole('region', { name: 'Sequence', exact: true });
    await expect(panel.getByRole('heading', { name })).toBeVisible();
    await expect(panel.getByRole('button', { name: 'Shortlist' })).toHaveAttribute('aria-pressed', 'true');

    await goToPlace(page, COMPARISON);
    const listed = page.getByRole('grid', { name: 'On the shortlist of either run' });
    await expect(listed.getByRole('gridcell', { name, exact: true })).toBeVisible();
    await listed.getByRole('button').first().click();
    await expect(panel.getByRole('heading', { name })).toBeVisible();

    // A bar of the track stands for a chunk: the table below lists the frames of that chunk.
    const scored = panel.locator('svg g[class*="chunk"]').filter({ hasText: /, [FR][123]$/ });
    for (const bar of [scored.first(), scored.last()]) {
      const tip = (await bar.textContent()) ?? '';
      await bar.locator('rect').first().click();
      // A bar ends where the next begins, though their chunks overlap.
      const frames = panel.getByRole('table', { name: `Reading frames of ${tip.split(' – ')[0]} – ` });
      await expect(frames.getByRole('rowheader', { name: tip.slice(-2) })).toBeVisible();
    }
    // The following tests expect an empty shortlist.
    await panel.getByRole('button', { name: 'Shortlist' }).click();
    await expect(panel.getByRole('button', { name: 'Shortlist' })).toHaveAttribute('aria-pressed', 'false');
  });

  test('a table of another tool: the count of an agreement shows those sequences, and the table can be removed', async ({
    page,
  }) => {
    await page.goto(engine.url);
    await goToPlace(page, ofRun('done', 'tools'));
    const table = page.getByRole('region', { name: 'geNomad' });
    const notInTable = table.getByRole('button', { name: /Not in the table of geNomad, our call Virus/ });
    const count = await notInTable.innerText();
    await notInTable.click();
    const shown = page.getByRole('status').filter({ hasText: `${count} of ` });
    await expect(shown).toBeVisible();
    await expect(page.getByRole('columnheader', { name: 'geNomad', exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Not in the table of geNomad', exact: true }).click();
    await expect(shown).toHaveCount(0);
    await goToPlace(page, ofRun('done', 'tools'));
    await table.getByRole('button', { name: 'Remove the table of geNomad' }).click();
    await expect(table).toHaveCount(0);
  });

  test('a sequence stays open beside the table, follows its keys, and is put on the shortlist by one', async ({
    page,
  }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    await goToPlace(page, ofRun('done', 'results'));
    await openSequence(page, 2);
    const grid = page.getByRole('grid', { name: 'Sequences' });
    const panel = page.getByRole('region', { name: 'Sequence', exact: true });
    const nameInPanel = () => panel.getByRole('heading', { level: 2 }).first().textContent();
    const first = await nameInPanel();
    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(nameInPanel).not.toBe(first);
    const second = await nameInPanel();
    await page.keyboard.press('s');
    const tick = grid.getByRole('checkbox', { name: `${second} on the shortlist` });
    await expect(tick).toBeChecked();
    // A click on the checkbox leaves the keyboard with the table.
    await tick.click();
    await expect(tick).not.toBeChecked();
    await page.keyboard.press('s');
    await expect(tick).toBeChecked();
    await page.keyboard.press('Escape');
    await expect(panel).toHaveCount(0);
    await page.getByRole('button', { name: 'Shortlist 1' }).click();
    await page.getByRole('menuitem', { name: 'Show only these' }).click();
    await expect(page.getByRole('status').filter({ hasText: '1 of 2,000' })).toBeVisible();
    // Its row disappears when it is unticked.
    await grid.getByRole('checkbox').click();
    await expect(page.getByRole('status').filter({ hasText: '0 of 2,000' })).toBeVisible();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    // A click with Shift ticks all rows from the last ticked one.
    await grid.getByRole('row').nth(2).getByRole('checkbox').click();
    await grid
      .getByRole('row')
      .nth(6)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await expect(page.getByRole('button', { name: 'Shortlist 5' })).toBeVisible();
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByRole('checkbox', { name: 'With a terminal repeat' }).check();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('status').filter({ hasText: /^\d+ of 2,000$/ })).toBeVisible();
    await page.getByRole('button', { name: 'With a terminal repeat' }).click();
    await expect(page.getByRole('status').filter({ hasText: /^2,000 / })).toBeVisible();
  });

  test('a call, a preset and the filter for short ones each show as many sequences as they state', async ({
    page,
  }) => {
    await page.goto(engine.url);
    await goToPlace(page, ofRun('done', 'results'));
    const isShown = async (count: string) =>
      expect(page.getByRole('status').filter({ hasText: new RegExp(`^${count} of `) })).toBeVisible();
    const calls = page.getByRole('group', { name: 'Calls' });
    const virus = calls.getByRole('button', { name: /^[\d,]+ Virus/ });
    const [viral = ''] = /^[\d,]+/.exec(await virus.innerText()) ?? [];
    await virus.click();
    await isShown(viral);
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    const preset = page.getByRole('button', { name: /^Conservative\s*\d/ });
    const [conservative = ''] = /\d[\d,]*/.exec(await preset.innerText()) ?? [];
    expect(Number(conservative.replaceAll(',', ''))).toBeLessThan(Number(viral.replaceAll(',', '')));
    await preset.click();
    await isShown(conservative);
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    const short = calls.getByRole('button', { name: /short$/ });
    const [count = ''] = /^[\d,]+/.exec(await short.innerText()) ?? [];
    await short.click();
    await isShown(count);
    await expect(page.getByTitle(/^Shorter than the 500 bp/).first()).toContainText('short');
  });

  test('results show the number of sequences, also for a run that is opened again after another one', async ({
    page,
  }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    const shown = page.getByRole('status').filter({ hasText: 'sequences shown' });
    for (const [run, count] of [
      ['done', '2,000'],
      ['teaching', '200'],
      ['done', '2,000'],
    ] as const) {
      await goToPlace(page, ofRun(run, 'results'));
      await expect(shown).toHaveText(`${count} sequences shown`);
      await goToPlace(page, '#/runs');
      await expect(shown).toBeHidden();
    }
  });

  test('plots show the sequences of the table', async ({ page }) => {
    await page.goto(engine.url);
    await goToPlace(page, ofRun('done', 'results'));
    await page.getByRole('button', { name: /^[\d,]+ Virus/ }).click();
    const count = page.getByRole('status').filter({ hasText: /^\d+ of 2,000/ });
    const [shown] = /^\d+/.exec(await count.innerText()) ?? [];
    await page.getByRole('tab', { name: 'Plots' }).click();
    await expect(page.getByText(`${shown} sequences shown`)).toBeVisible();
    const shares = page.getByRole('figure', { name: 'Viral share by length' });
    for (const tick of ['25%', '50%', '75%'])
      await expect(shares.getByText(tick, { exact: true }).first()).toBeVisible();
    const scores = page.getByRole('figure', { name: 'Scores by call' });
    await expect(scores.locator('.recharts-area-area')).toHaveCount(2);
    await page.getByRole('tab', { name: 'Results' }).click();
    await expect(page.getByRole('grid', { name: 'Sequences' })).toBeVisible();
  });
});
