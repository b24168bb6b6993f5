import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, expect, type Page } from '@playwright/test';
import type { RunSummary } from '../../electron/contract/index.ts';
import { MADE_COMPUTERS } from '../../renderer/testing/memoryEngine/router/computersRouter.ts';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';
import {
  byAction,
  byButton,
  byMenu,
  goToPlace,
  ofRun,
  openSequence,
  PLACES,
  SIZES,
} from '../support/places.ts';
import { complaints } from '../support/window.ts';

test.describe.configure({ mode: 'parallel' });

const FAULTS = readFileSync(join(import.meta.dirname, '..', 'support', 'layoutFaults.js'), 'utf8');

/** States that none of the invented runs is in: the test changes one run to each. */
const MORE_STATES: Record<string, Partial<RunSummary>> = {
  Paused: { interrupted: false, state: { phase: 'paused', error: null } },
  'Pausing …': { interrupted: false, state: { phase: 'pausing' } },
  'Finishing current work …': { interrupted: false, state: { phase: 'draining' } },
  'Writing results …': { interrupted: false, state: { phase: 'finishing' } },
  'Folder not found': { missing: true },
};

/** The screen keeps what was unfolded on an earlier visit. */
const unfoldOffline = async (page: Page) => {
  const fold = page.getByRole('button', { name: 'Without a network', exact: true });
  if ((await fold.getAttribute('aria-expanded')) !== 'true') await fold.click();
};

const SCREEN_PARTS = 3;

/** The place from which each dialog is opened, and how. */
const DIALOGS: Record<string, [hash: string, open: (page: Page) => Promise<void>]> = {
  'name, tags and note': [ofRun('done'), byAction(/^Name, tags/)],
  verify: [ofRun('done'), byAction(/^Verify/)],
  delete: [ofRun('done'), byAction(/^Delete/)],
  export: [ofRun('done', 'results'), byButton('Export')],
  discard: [ofRun('running'), byMenu(/^Stop …/, /^Discard/)],
  'other devices': [ofRun('halted'), byAction(/^Continue on other/)],
  'choose files': ['#/new-run', byButton('Choose files')],
  'choose a folder': ['#/new-run', byButton('Choose a folder')],
  diagnostics: ['#/computer', byButton('Copy diagnostics')],
  'make an offline folder': [
    '#/computer',
    async (page) => {
      await unfoldOffline(page);
      await byButton('Make an offline folder …')(page);
    },
  ],
  'set up from a folder': [
    '#/computer',
    async (page) => {
      await unfoldOffline(page);
      await byButton('Set up from an offline folder …')(page);
      await byButton('Take this folder')(page);
      await expect(page.getByRole('dialog', { name: 'Set up from this folder?' })).toBeVisible();
    },
  ],
  'the log of a run': [ofRun('running'), byButton('Show log')],
  'finish now': [ofRun('interrupted', 'results'), byButton('Finish with what is computed')],
  'skip what failed': [
    ofRun('withFailures', 'files'),
    async (page) => {
      await page.getByRole('button', { name: /^Sequences \S+ to/ }).click();
      await page.getByRole('button', { name: 'Skip' }).first().click();
    },
  ],
  'samples of a new run': [
    '#/new-run',
    async (page) => {
      await takeFolder(page);
      await byButton('Name samples')(page);
    },
  ],
};

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
      await page.setViewportSize(SIZES.usual);
      await page.goto(engine.url);
      const found: string[] = [];
      for (const [index, [place, hash]] of PLACES.entries()) {
        if (index % SCREEN_PARTS !== part) continue;
        await goToPlace(page, hash);
        // Header and navigation are the same everywhere, so axe checks them only once in each part.
        const within = index < SCREEN_PARTS ? undefined : 'main';
        if (place === 'results, a sequence') await openSequence(page, 2);
        found.push(...(await allFaults(page, place, within)));
        if (place === 'results, a sequence') await page.keyboard.press('Escape');
      }
      expect(found).toEqual([]);
    });
  }

  test('axe finds nothing in any dialog, in both themes, and each fits at every size', async ({ page }) => {
    await page.goto(engine.url);
    const found: string[] = [];
    for (const [name, [hash, open]] of Object.entries(DIALOGS)) {
      await page.setViewportSize(SIZES.usual);
      await goToPlace(page, hash);
      await open(page);
      await expect(page.getByRole('dialog').first(), name).toBeVisible();
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
      }).toPass({ timeout: 120_000 });
    }
    expect(found).toEqual([]);
  });

  test('a cluster fits at every size, and axe finds nothing', async ({ page }) => {
    const cluster = await serveMemoryEngine({ devices: 6, nodes: 2 });
    const found: string[] = [];
    const look = async (place: string) => {
      found.push(...(await allFaults(page, place, 'main')));
    };
    await page.goto(cluster.url);
    await goToPlace(page, ofRun('running'));
    const devices = page.getByRole('region', { name: 'Devices' });
    await expect(devices.getByRole('row', { name: /of gpu-node-2/ }).first()).toBeVisible();
    await look('running on a cluster');
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
    const { interrupted } = RUN_IDS;
    const before = engine.runs().find(({ runId }) => runId === interrupted);
    await goToPlace(page, ofRun('interrupted'));
    for (const [words, change] of Object.entries(MORE_STATES)) {
      engine.changeRun(interrupted, { ...before, ...change });
      await expect(page.getByRole('main').getByText(words, { exact: true }).first()).toBeVisible();
      await look(words);
    }
    engine.changeRun(interrupted, { ...before });

    await goToPlace(page, ofRun('running'));
    await unfold(page);
    await look('running, unfolded');
    await goToPlace(page, ofRun('withFailures', 'files'));
    await unfold(page);
    await look('done with failures, unfolded');

    await goToPlace(page, '#/new-run');
    await takeFolder(page);
    await unfold(page);
    await look('new run with files');
    expect(faults).toEqual([]);
  });

  test('filters take no more room than they need, and fit at every size', async ({ page }) => {
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    await goToPlace(page, ofRun('done', 'results'));
    await byButton('Filters')(page);
    const filters = page.getByRole('dialog');
    await expect(filters.getByLabel('Length (bp), at least')).toBeVisible();
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
    await goToPlace(page, '#/settings');
    await page.getByRole('combobox', { name: 'Language' }).click();
    await page.getByRole('option', { name: 'Deutsch' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Einstellungen' })).toBeVisible();
    const faults: string[] = [];
    for (const [place, hash] of PLACES) {
      await goToPlace(page, hash);
      faults.push(...(await layoutFaults(page)).map((fault) => `${place}: ${fault}`));
    }
    await goToPlace(page, ofRun('running'));
    for (const tab of await page.getByRole('tab').all()) await expect(tab).toBeInViewport({ ratio: 1 });
    await german.stop();
    expect(faults).toEqual([]);
  });
});

test('the set-up fits at every size, before and while it runs, and every screen without any run; axe finds nothing', async ({
  page,
}) => {
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
  for (const screen of ['new-run', 'runs', 'models', 'computer', 'settings', 'help']) {
    await goToPlace(page, `#/${screen}`);
    await look(`${screen}, without any run`);
  }
  const stopped = engine.stop();
  await expect(page.getByText('The program does not answer')).toBeVisible();
  await look('the program is gone');
  await stopped;
  expect(found).toEqual([]);
});

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
