import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, expect, type Page } from '@playwright/test';
import type { RunSummary } from '../../electron/contract/index.ts';
import { MADE_COMPUTERS } from '../../renderer/testing/memoryEngine/router/computersRouter.ts';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';

import { complaints } from '../support/window.ts';

test.describe.configure({ mode: 'parallel' });

const FAULTS = readFileSync(join(import.meta.dirname, '..', 'support', 'layoutFaults.js'), 'utf8');

/** Window sizes in CSS pixels. At 200 % magnification, a screen of 1440 x 900 has 720 x 450 of them. */
const SIZES = {
  wide: { width: 1920, height: 1080 },
  usual: { width: 1440, height: 900 },
  smallest: { width: 900, height: 600 },
  magnified: { width: 720, height: 450 },
  narrow: { width: 480, height: 800 },
};

const PLACES = {
  'new run': '#/new-run',
  runs: '#/runs',
  models: '#/models',
  'computer check': '#/computer',
  computers: '#/computers',
  settings: '#/settings',
  help: '#/help',
  'guide, first run': '#/guide/first-run',
  'guide, requirements': '#/guide/requirements',
  running: `#/run/${RUN_IDS.running}/progress`,
  'running, files': `#/run/${RUN_IDS.running}/files`,
  waiting: `#/run/${RUN_IDS.queuedFirst}/progress`,
  interrupted: `#/run/${RUN_IDS.interrupted}/progress`,
  halted: `#/run/${RUN_IDS.halted}/progress`,
  'done with failures': `#/run/${RUN_IDS.withFailures}/files`,
  results: `#/run/${RUN_IDS.done}/results`,
  'results, a sequence': `#/run/${RUN_IDS.done}/results`,
  samples: `#/run/${RUN_IDS.done}/samples`,
  plots: `#/run/${RUN_IDS.done}/plots`,
  'other tools': `#/run/${RUN_IDS.done}/tools`,
  'no other tools': `#/run/${RUN_IDS.teaching}/tools`,
  'teaching results': `#/run/${RUN_IDS.teaching}/results`,
  'waiting, files': `#/run/${RUN_IDS.queuedFirst}/files`,
  'waiting, results': `#/run/${RUN_IDS.queuedFirst}/results`,
  'running, results': `#/run/${RUN_IDS.running}/results`,
  'halted, files': `#/run/${RUN_IDS.halted}/files`,
  done: `#/run/${RUN_IDS.done}/progress`,
  'done, files': `#/run/${RUN_IDS.done}/files`,
  comparison: `#/compare/${RUN_IDS.done}/${RUN_IDS.withFailures}`,
  failed: `#/run/${RUN_IDS.failed}/progress`,
  'failed, files': `#/run/${RUN_IDS.failed}/files`,
  'failed, results': `#/run/${RUN_IDS.failed}/results`,
  preparing: `#/run/${RUN_IDS.preparing}/progress`,
  cancelled: `#/run/${RUN_IDS.cancelled}/progress`,
  'cancelled, results': `#/run/${RUN_IDS.cancelled}/results`,
  'samples in the queue': `#/run/${RUN_IDS.samples}/progress`,
  'samples in the queue, files': `#/run/${RUN_IDS.samples}/files`,
  'failures, progress': `#/run/${RUN_IDS.withFailures}/progress`,
};

/** Further places, built from the same components as those above. */
const MORE_PLACES = {
  'first steps': '#/start',
  'guide, pictures': '#/guide/biologist',
  'guide, tables': '#/guide/peers',
  'guide, troubleshooting': '#/guide/troubleshooting',
  'interrupted, files': `#/run/${RUN_IDS.interrupted}/files`,
  'no such run': '#/run/00000000-0000-4000-8000-000000000000/progress',
};

/** States that none of the invented runs is in: the test changes one run to each. */
const MORE_STATES: Record<string, Partial<RunSummary>> = {
  Paused: { interrupted: false, state: { phase: 'paused', error: null } },
  'Pausing …': { interrupted: false, state: { phase: 'pausing' } },
  'Finishing current work …': { interrupted: false, state: { phase: 'draining' } },
  'Writing results …': { interrupted: false, state: { phase: 'finishing' } },
  'Folder not found': { missing: true },
};

const PALETTE = 'What do you want to do?';
const bySaying = (words: string) => async (page: Page) => {
  await page.keyboard.press('Control+k');
  await page.getByRole('textbox', { name: PALETTE }).fill(words);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
};
const byButton = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();

/** The screen keeps what was unfolded on an earlier visit. */
const unfoldOffline = async (page: Page) => {
  const fold = page.getByRole('button', { name: 'Without a network', exact: true });
  if ((await fold.getAttribute('aria-expanded')) !== 'true') await fold.click();
};

const SCREEN_PARTS = 3;

/** The place from which each dialog is opened, and how. */
const DIALOGS: Record<string, [keyof typeof PLACES, (page: Page) => Promise<void>]> = {
  rename: ['done', bySaying('Rename')],
  'tags and note': ['done', bySaying('Tags and note')],
  verify: ['done', bySaying('Verify')],
  delete: ['done', bySaying('Delete')],
  export: ['results', byButton('Export')],
  'disk space': ['runs', bySaying('Disk space')],
  discard: ['running', bySaying('Discard')],
  'other devices': ['halted', bySaying('Continue on other')],
  'a SLURM job': [
    'halted',
    async (page) => {
      await bySaying('Continue on other')(page);
      await page.getByRole('radio', { name: 'SLURM cluster' }).click();
      await page.getByLabel('Batch script').waitFor();
    },
  ],
  'choose files': ['new run', byButton('Choose files')],
  'choose a folder': ['new run', byButton('Choose a folder')],
  diagnostics: ['computer check', byButton('Copy diagnostics')],
  'make an offline folder': [
    'computer check',
    async (page) => {
      await unfoldOffline(page);
      await byButton('Make an offline folder …')(page);
    },
  ],
  'set up from a folder': [
    'computer check',
    async (page) => {
      await unfoldOffline(page);
      await byButton('Set up from an offline folder …')(page);
      await byButton('Take this folder')(page);
      await expect(page.getByRole('dialog', { name: 'Set up from this folder?' })).toBeVisible();
    },
  ],
  'the log of a run': ['running', bySaying('Show log')],
  'finish now': ['interrupted', bySaying('Finish with')],
  'skip what failed': [
    'done with failures',
    (page) => page.getByRole('button', { name: 'Skip' }).first().click(),
  ],
  'samples of a new run': [
    'new run',
    async (page) => {
      await takeFolder(page);
      await byButton('Name samples')(page);
    },
  ],
};

/** The lowest position at which the first row may start. */
const FIRST_ROW = [
  [{ width: 1440, height: 900 }, 330],
  [{ width: 1100, height: 700 }, 330],
  [SIZES.magnified, 380],
  [SIZES.narrow, 430],
] as const;

test('the table fills the page, also with fifty samples and the tables of two tools: its first row is visible, and only it scrolls', async ({
  page,
}) => {
  const engine = await serveMemoryEngine({ sequences: 2000, samples: 50 });
  for (const [size, most] of FIRST_ROW) {
    await page.setViewportSize(size);
    await page.goto(engine.url);
    await goToPlace(page, PLACES.results);
    // The window asks about another run that was interrupted.
    const later = page.getByRole('button', { name: 'Later' });
    if (await later.isVisible()) await later.click();
    const row = page.getByRole('grid', { name: 'Sequences' }).getByRole('row').nth(1);
    await expect(row).toBeVisible();
    const { y = Infinity, height = 0 } = (await row.boundingBox()) ?? {};
    expect(y).toBeLessThan(most);
    expect(y + height).toBeLessThan(size.height);
    if (size.height >= 700)
      expect(
        await page.evaluate(
          '(main => main.scrollHeight - main.clientHeight)(document.querySelector("main"))',
        ),
      ).toBe(0);
  }
  await engine.stop();
});

test.describe('every screen, at every size', () => {
  let engine: Awaited<ReturnType<typeof serveMemoryEngine>>;
  test.beforeAll(async () => {
    engine = await serveMemoryEngine({ sequences: 2000, devices: 8, computers: MADE_COMPUTERS });
  });
  test.afterAll(() => engine.stop());

  // The test is split into parts, so that the others do not have to wait for one long test at the end.
  for (let part = 0; part < SCREEN_PARTS; part++) {
    test(`every screen fits at every size, and axe finds nothing in both themes: ${part + 1} of ${SCREEN_PARTS}`, async ({
      page,
    }) => {
      test.setTimeout(900_000);
      await page.setViewportSize(SIZES.usual);
      await page.goto(engine.url);
      const found: string[] = [];
      for (const [index, [place, hash]] of Object.entries(PLACES).entries()) {
        if (index % SCREEN_PARTS !== part) continue;
        await goToPlace(page, hash);
        // Header and navigation are the same everywhere, so axe checks them only once in each part.
        const within = index < SCREEN_PARTS ? undefined : 'main';
        if (place === 'results, a sequence') await openSequence(page, 2);
        found.push(...(await allFaults(page, place, within)));
        if (place === 'results, a sequence') await page.keyboard.press('Escape');
      }
      if (part === 0) {
        await page.keyboard.press('Control+k');
        await page.getByRole('dialog').getByRole('textbox').fill('pau');
        found.push(...(await complaints(page, 'command palette')));
      }
      expect(found).toEqual([]);
    });
  }

  test('keys lead to every screen and back, and the focus is never lost', async ({ page }) => {
    await page.goto(engine.url);
    await goToPlace(page, PLACES.running);
    await page.keyboard.press('Alt+2');
    await expect(page.getByRole('heading', { level: 1, name: 'Runs' })).toBeFocused();
    await page.keyboard.press('Control+k');
    const search = page.getByRole('textbox', { name: PALETTE });
    await search.fill('Lake plankton');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Lake plankton' })).toBeFocused();
    await page.keyboard.press('Control+k');
    await expect(search).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByRole('heading', { level: 1, name: 'Lake plankton' })).toBeFocused();

    // The palette opens these dialogs and closes with them; the button below disappears when it is pressed.
    for (const command of ['Rename', 'Export', 'Disk space']) {
      await page.keyboard.press('Control+k');
      await search.fill(command);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await expect(search).toBeHidden();
      await expect(page.getByRole('dialog')).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
      await expect(page.getByRole('heading', { level: 1, name: 'Lake plankton' }), command).toBeFocused();
    }
    await goToPlace(page, PLACES.running);
    await page.getByRole('button', { name: 'Pause' }).focus();
    await page.keyboard.press('Enter');
    const onward = page.locator('header').getByRole('button', { name: 'Continue' });
    await expect(onward).toBeVisible();
    await expect.poll(() => page.evaluate<boolean>('document.activeElement !== document.body')).toBe(true);
    // The following tests expect the run in this state.
    await onward.click();
    await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  });

  test('axe finds nothing in any dialog, in both themes, and each fits at every size', async ({ page }) => {
    test.setTimeout(900_000);
    await page.goto(engine.url);
    const found: string[] = [];
    for (const [name, [place, open]] of Object.entries(DIALOGS)) {
      await page.setViewportSize(SIZES.usual);
      await goToPlace(page, PLACES[place]);
      await open(page);
      await expect(page.getByRole('dialog').first(), name).toBeVisible({ timeout: 15_000 });
      await expect(page.getByRole('textbox', { name: PALETTE })).toHaveCount(0);
      await expect(page.getByRole('dialog').locator('.mantine-Skeleton-root')).toHaveCount(0);
      // The screen behind the dialog is checked by the test above.
      found.push(...(await complaints(page, name, '[role="dialog"]')));
      for (const [size, viewport] of Object.entries(SIZES)) {
        await page.setViewportSize(viewport);
        found.push(...(await dialogFaults(page)).map((fault) => `${name}, ${size}: ${fault}`));
      }
      // The first Escape may close a drop-down list within the dialog.
      await expect(async () => {
        await page.keyboard.press('Escape');
        await expect(page.getByRole('dialog'), name).toHaveCount(0, { timeout: 2000 });
      }).toPass({ timeout: 20_000 });
    }
    expect(found).toEqual([]);
  });

  test('a cluster and the choice of one fit at every size, and axe finds nothing', async ({ page }) => {
    const cluster = await serveMemoryEngine({ devices: 6, nodes: 2 });
    const found: string[] = [];
    const look = async (place: string) => {
      found.push(...(await allFaults(page, place, 'main')));
    };
    await page.goto(cluster.url + PLACES.running);
    await expect(page.getByText('gpu-node-2', { exact: true })).toBeVisible();
    await look('running on a cluster');
    await bySaying('Run again with these settings')(page);
    await page.getByRole('button', { name: 'Change: Computing' }).click();
    await page.getByRole('radio', { name: 'Ray cluster' }).check();
    await expect(page.getByLabel('Address of the Ray cluster')).toBeVisible();
    await look('new run on a Ray cluster');
    await cluster.stop();
    expect(found).toEqual([]);
  });

  test('fits at every size: new files, transient states, unfolded sections', async ({ page }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    const faults: string[] = [];
    const look = async (state: string) => {
      faults.push(...(await layoutFaultsAtEverySize(page, state)));
    };
    for (const [place, hash] of Object.entries(MORE_PLACES)) {
      await goToPlace(page, hash);
      await look(place);
    }
    const { interrupted } = RUN_IDS;
    const before = engine.runs().find(({ runId }) => runId === interrupted);
    await goToPlace(page, `#/run/${interrupted}/progress`);
    for (const [words, change] of Object.entries(MORE_STATES)) {
      engine.changeRun(interrupted, { ...before, ...change });
      await expect(page.getByRole('main').getByText(words, { exact: true }).first()).toBeVisible();
      await look(words);
    }
    engine.changeRun(interrupted, { ...before });

    await goToPlace(page, PLACES.running);
    await unfold(page);
    await look('running, unfolded');
    await goToPlace(page, PLACES['done with failures']);
    await unfold(page);
    await look('done with failures, unfolded');

    await goToPlace(page, PLACES['new run']);
    await takeFolder(page);
    await unfold(page);
    await look('new run with files');
    await page.keyboard.press('Control+k');
    await expect(page.getByRole('textbox', { name: PALETTE })).toBeVisible();
    await look('command palette');
    expect(faults).toEqual([]);
  });

  test('more filters take no more room than they need, and fit at every size', async ({ page }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    await goToPlace(page, PLACES.results);
    await byButton('More filters')(page);
    const filters = page.getByRole('dialog');
    await expect(filters.getByLabel('Length, at least')).toBeVisible();
    for (const size of Object.values(SIZES)) {
      await page.setViewportSize(size);
      const inSight = async () => {
        const { x = 0, width = 0 } = (await filters.boundingBox()) ?? {};
        return width > 200 && width < 480 && x >= 0 && x + width <= size.width;
      };
      await expect.poll(inSight).toBe(true);
    }
  });

  test('fits: narrow, in German', async ({ page }) => {
    const german = await serveMemoryEngine({ sequences: 2000, devices: 8, computers: MADE_COMPUTERS });
    await page.setViewportSize(SIZES.narrow);
    await page.goto(german.url);
    await goToPlace(page, PLACES.settings);
    await bySaying('Deutsch')(page);
    await expect(page.getByRole('heading', { level: 1, name: 'Einstellungen' })).toBeVisible();
    const faults: string[] = [];
    for (const [place, hash] of Object.entries({ ...PLACES, ...MORE_PLACES })) {
      await goToPlace(page, hash);
      faults.push(...(await layoutFaults(page)).map((fault) => `${place}: ${fault}`));
    }
    await goToPlace(page, PLACES.running);
    for (const tab of await page.getByRole('tab').all()) await expect(tab).toBeInViewport({ ratio: 1 });
    await german.stop();
    expect(faults).toEqual([]);
  });

  test('two runs are ticked and compared: calls, scores, and the sequences that changed', async ({
    page,
  }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    await goToPlace(page, PLACES.runs);
    for (const name of ['Lake plankton', 'Sea water, depth profile'])
      await page.getByRole('checkbox', { name: `Tick ${name} to compare` }).check();
    await byButton('Compare these two')(page);
    await expect(page.getByText(/sequences are in both runs; .* have the same call/)).toBeVisible();
    await expect(page.getByRole('table', { name: 'Calls', exact: true }).getByRole('row')).toHaveCount(5);
    await expect(page.getByRole('figure', { name: 'Scores in both runs' })).toBeVisible();
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

    await goToPlace(page, PLACES.comparison);
    const listed = page.getByRole('grid', { name: 'On the shortlist of either run' });
    await expect(listed.getByRole('gridcell', { name, exact: true })).toBeVisible();
    await listed.getByRole('button').first().click();
    await expect(panel.getByRole('heading', { name })).toBeVisible();

    // A bar of the track stands for a chunk: the table below lists the frames of that chunk.
    const scored = panel.locator('svg g[class*="chunk"]').filter({ hasText: /, [FR][123]$/ });
    for (const bar of [scored.first(), scored.last()]) {
      const tip = (await bar.textContent()) ?? '';
      await bar.locator('rect').first().click();
      const frames = panel.getByRole('table', { name: `Reading frames of ${tip.split(':')[0]}` });
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
    await goToPlace(page, PLACES['other tools']);
    const table = page.getByRole('region', { name: 'geNomad' });
    const notInTable = table.getByRole('button', { name: /Not in the table of geNomad, our call Virus/ });
    const count = await notInTable.innerText();
    await notInTable.click();
    const shown = page.getByRole('status').filter({ hasText: `${count} of ` });
    await expect(shown).toBeVisible();
    await expect(page.getByRole('columnheader', { name: 'geNomad', exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Not in the table of geNomad', exact: true }).click();
    await expect(shown).toHaveCount(0);
    await goToPlace(page, PLACES['other tools']);
    await table.getByRole('button', { name: 'Remove the table of geNomad' }).click();
    await expect(table).toHaveCount(0);
  });

  test('a sequence stays open beside the table, follows its keys, and is put on the shortlist by one', async ({
    page,
  }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    await goToPlace(page, PLACES.results);
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
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByRole('checkbox', { name: 'With a terminal repeat' }).check();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('status').filter({ hasText: /^\d+ of 2,000$/ })).toBeVisible();
    await page.getByRole('button', { name: 'With a terminal repeat' }).click();
    await expect(page.getByRole('status').filter({ hasText: /^2,000 / })).toBeVisible();
  });

  test('a bar of a plot and a brush over the scores filter the table', async ({ page }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    await goToPlace(page, PLACES.plots);
    const all = await page.getByRole('status').first().innerText();
    const shares = page.getByRole('figure', { name: /^Viral share by length/ });
    const bar = shares.locator('.recharts-bar-rectangle').first();
    await bar.click();
    await expect(page.getByRole('status').first()).not.toHaveText(all);
    const shown = await page.getByRole('status').first().innerText();
    await page.getByRole('button', { name: 'Show in the table' }).click();
    await expect(page.getByRole('status').filter({ hasText: `${shown.split(' ')[0]} of ` })).toBeVisible();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    const lowest = page.getByRole('slider', { name: 'Score, at least' });
    await lowest.focus();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('status').filter({ hasText: /^[\d,]+ of 2,000$/ })).toBeVisible();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
  });

  test('a call, a preset and the filter for short ones each show as many sequences as they state', async ({
    page,
  }) => {
    await page.goto(engine.url);
    await goToPlace(page, PLACES.results);
    const isShown = async (count: string) =>
      expect(page.getByRole('status').filter({ hasText: new RegExp(`^${count} of `) })).toBeVisible();
    const calls = page.getByRole('group', { name: 'Calls' });
    const virus = calls.getByRole('button', { name: /^[\d,]+ Virus/ });
    const [viral = ''] = /^[\d,]+/.exec(await virus.innerText()) ?? [];
    await virus.click();
    await isShown(viral);
    await page.getByRole('button', { name: 'Presets' }).click();
    const preset = page.getByRole('menuitem', { name: /^Conservative.*[\d,]+$/ });
    const [conservative = ''] = /[\d,]+$/.exec(await preset.innerText()) ?? [];
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
    for (const [place, count] of [
      ['results', '2,000'],
      ['teaching results', '200'],
      ['results', '2,000'],
    ] as const) {
      await goToPlace(page, PLACES[place]);
      await expect(shown).toHaveText(`${count} sequences shown`);
      await goToPlace(page, PLACES.runs);
      await expect(shown).toBeHidden();
    }
  });

  test('a plot is saved as SVG and PNG, light in a dark window, with a note of its source', async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await page.goto(engine.url);
    await goToPlace(page, `#/run/${RUN_IDS.teaching}/plots`);
    const saved = async (format: string) => {
      await page.getByRole('button', { name: 'Picture and data: Viral share by length' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format }).click(),
      ]);
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const svg = await saved('SVG');
    expect(svg.name).toMatch(/_NOT_FOR_RESEARCH_viral_share_by_length\.svg$/);
    const text = svg.bytes.toString('utf8');
    expect(text).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    // The picture has the light theme's colour of viruses, and does not depend on the window's style sheets.
    expect(text).toContain('fill="rgb(200, 81, 10)"');
    expect(text).not.toMatch(/var\(|class=|style=/);
    for (const words of ['Viral share by length', 'Length (bp)', 'Teaching model'])
      expect(text).toContain(words);
    const png = await saved('PNG');
    expect(png.name).toBe(svg.name.replace(/svg$/, 'png'));
    expect(png.bytes.subarray(1, 4).toString('latin1')).toBe('PNG');
    const width = Number(/ width="(\d+)"/.exec(text)?.[1]);
    expect(png.bytes.readUInt32BE(16)).toBe(3 * width);
  });
});

test.describe('every screen without any run, at every size', () => {
  let engine: Awaited<ReturnType<typeof serveMemoryEngine>>;
  test.beforeAll(async () => {
    engine = await serveMemoryEngine({ runs: 'none', devices: 1 });
  });
  test.afterAll(() => engine.stop());

  test('fits', async ({ page }) => {
    await page.goto(engine.url);
    const faults: string[] = [];
    for (const place of ['new run', 'runs', 'models', 'computer check', 'settings', 'help'] as const) {
      await goToPlace(page, PLACES[place]);
      faults.push(...(await layoutFaultsAtEverySize(page, place)));
    }
    expect(faults).toEqual([]);
  });
});

/** Opens the sequence in a row of the table beside it. */
async function openSequence(page: Page, row: number): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Sequences' });
  await grid.getByRole('row').nth(row).getByRole('gridcell').nth(1).click();
  await expect(page.getByRole('region', { name: 'Sequence', exact: true }).getByRole('figure')).toBeVisible();
}

test('the set-up fits at every size, before and while it runs, and axe finds nothing', async ({ page }) => {
  const engine = await serveMemoryEngine({ runs: 'none', devices: 1, fresh: true, welcomeSeen: false });
  const found: string[] = [];
  const look = async (state: string) => found.push(...(await allFaults(page, state)));
  await page.setViewportSize(SIZES.usual);
  await page.goto(engine.url);
  await expect(page.getByRole('button', { name: 'Set up from an offline folder …' })).toBeVisible();
  await look('not set up');
  await page.getByRole('button', { name: 'Set up', exact: true }).first().click();
  await expect(page.getByText('Getting PyTorch, the largest part').first()).toBeVisible();
  await look('setting up');
  await expect(page.getByRole('button', { name: 'Run the example' })).toBeVisible();
  await look('set up');
  const stopped = engine.stop();
  await expect(page.getByText('The program does not answer')).toBeVisible();
  await look('the program is gone');
  await stopped;
  expect(found).toEqual([]);
});

async function goToPlace(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = '${hash}'`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
}

/** Takes the first folder of the chooser, and waits for the results of its files. */
async function takeFolder(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Choose a folder' }).click();
  await page.getByRole('button', { name: 'Take this folder' }).click();
  await expect(page.getByText('Used in part').first()).toBeVisible();
  await expect(page.getByText(/^About /)).toBeVisible();
}

const unfold = (page: Page) =>
  page.evaluate(`document.querySelectorAll('main details').forEach((details) => { details.open = true; })`);

/** Elements that extend beyond a dialog or the window. */
const dialogFaults = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('[role="dialog"]')].flatMap((dialog) => {
    const { left, right } = dialog.getBoundingClientRect();
    const beyond = [...dialog.querySelectorAll('button, input, h2, p, li')].filter(
      (element) =>
        element.checkVisibility() &&
        !element.closest('[role="grid"], pre, .visually-hidden, svg') &&
        element.getBoundingClientRect().right > right + 1,
    );
    return [
      ...(left < 0 || right > innerWidth + 1 ? ['is wider than the window'] : []),
      ...beyond.slice(0, 2).map((element) => element.outerHTML.slice(0, 120)),
    ];
  })`);

/** Faults of the layout that persist: charts take their new size a moment after the window. */
async function layoutFaults(page: Page): Promise<string[]> {
  await page.evaluate(
    'new Promise((laidOut) => requestAnimationFrame(() => requestAnimationFrame(laidOut)))',
  );
  let faults = await page.evaluate<string[]>(FAULTS);
  for (let attempt = 0; attempt < 10 && faults.length > 0; attempt++) {
    await page.waitForTimeout(200);
    faults = await page.evaluate<string[]>(FAULTS);
  }
  return faults;
}

async function layoutFaultsAtEverySize(page: Page, what: string): Promise<string[]> {
  const faults: string[] = [];
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
    faults.push(...(await layoutFaults(page)).map((fault) => `${what}, ${size}: ${fault}`));
  }
  await page.setViewportSize(SIZES.usual);
  return faults;
}

/** All faults of a screen: of its layout at every size, and the findings of axe in both themes. */
async function allFaults(page: Page, what: string, within?: string): Promise<string[]> {
  return [...(await layoutFaultsAtEverySize(page, what)), ...(await complaints(page, what, within))];
}
