import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, expect, type Page } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';

import { complaints } from '../support/window.ts';

// What is wrong stands in the message, and a trace of so many screens takes longer than looking at them.
test.use({ trace: 'off' });

const FAULTS = readFileSync(join(import.meta.dirname, '..', 'support', 'layoutFaults.js'), 'utf8');

/** Window sizes in CSS pixels. Twice magnified, a screen of 1440 x 900 has 720 x 450 of them. */
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
  'computer check': '#/computer',
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
  'results, plots': `#/run/${RUN_IDS.done}/results`,
  'demo results': `#/run/${RUN_IDS.demo}/results`,
  'waiting, files': `#/run/${RUN_IDS.queuedFirst}/files`,
  'waiting, results': `#/run/${RUN_IDS.queuedFirst}/results`,
  'running, results': `#/run/${RUN_IDS.running}/results`,
  'halted, files': `#/run/${RUN_IDS.halted}/files`,
  done: `#/run/${RUN_IDS.done}/progress`,
  'done, files': `#/run/${RUN_IDS.done}/files`,
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

test.describe('every screen, at every size', () => {
  let engine: Awaited<ReturnType<typeof serveMemoryEngine>>;
  test.beforeAll(async () => {
    engine = await serveMemoryEngine({ sequences: 2000, devices: 8 });
  });
  test.afterAll(() => engine.stop());

  test('axe finds nothing on any screen, in both themes', async ({ page }) => {
    // Some thirty screens, each twice.
    test.setTimeout(900_000);
    test.slow();
    await page.setViewportSize(SIZES.usual);
    await page.goto(engine.url);
    const found: string[] = [];
    for (const [place, hash] of Object.entries(PLACES)) {
      await goToPlace(page, hash);
      for (const plot of place === 'results, plots' ? PLOTS : [null]) {
        if (plot !== null) await showPlot(page, plot);
        found.push(...(await complaints(page, place)));
      }
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('textbox').fill('pau');
    found.push(...(await complaints(page, 'command palette')));
    expect(found).toEqual([]);
  });

  test('keys lead to every screen and back, and the focus is never lost', async ({ page }) => {
    await page.goto(engine.url);
    await goToPlace(page, PLACES.running);
    await page.keyboard.press('Alt+2');
    await expect(page.getByRole('heading', { level: 1, name: 'Runs' })).toBeFocused();
    await page.keyboard.press('Control+k');
    const search = page.getByRole('textbox', { name: 'What do you want to do?' });
    await search.fill('Lake plankton');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Lake plankton' })).toBeFocused();
    await page.keyboard.press('Control+k');
    await expect(search).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByRole('heading', { level: 1, name: 'Lake plankton' })).toBeFocused();

    // Dialogs that the palette has opened, which leave together with it, and a button that its own press takes away.
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
    // As the tests after this one expect it.
    await onward.click();
    await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  });

  for (const [size, viewport] of Object.entries(SIZES)) {
    test(`fits: ${size}`, async ({ page }) => {
      await page.setViewportSize(viewport);
      await page.goto(engine.url);
      const faults: string[] = [];
      for (const [place, hash] of Object.entries(PLACES)) {
        await goToPlace(page, hash);
        for (const plot of place === 'results, plots' ? PLOTS : [null]) {
          if (plot !== null) await showPlot(page, plot);
          faults.push(...(await layoutFaults(page)).map((fault) => `${place}: ${fault}`));
        }
      }
      expect(faults).toEqual([]);
    });
  }

  test('two runs are compared: calls, scores, and the sequences that changed', async ({ page }) => {
    await page.setViewportSize(SIZES.narrow);
    await page.goto(engine.url);
    await goToPlace(page, PLACES.results);
    await page.getByRole('button', { name: 'Report, comparison and command' }).click();
    await page.getByRole('menuitem', { name: 'Compare with another run' }).click();
    const dialog = page.getByRole('dialog', { name: /^Compare/ });
    await dialog.getByRole('combobox', { name: 'The other run' }).click();
    await page.getByRole('option').first().click();
    await expect(dialog.getByText(/sequences are in both runs; .* have the same call/)).toBeVisible();
    await expect(dialog.getByRole('table', { name: 'Calls', exact: true }).getByRole('row')).toHaveCount(5);
    await expect(dialog.getByRole('figure', { name: 'Scores in both runs' })).toBeVisible();
    expect([...(await complaints(page, 'comparison')), ...(await layoutFaults(page))]).toEqual([]);
    const changed = dialog
      .getByRole('table', { name: /^Sequences whose call changed/ })
      .getByRole('button')
      .first();
    const name = await changed.innerText();
    await changed.click();
    await expect(page.getByRole('dialog').getByRole('heading', { name })).toBeVisible();
  });

  test('a plot is saved as SVG and PNG, light in a dark window, with what it is made from', async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await page.goto(engine.url);
    await goToPlace(page, PLACES['demo results']);
    await showPlot(page, 'Viral share by length');
    const saved = async (format: string) => {
      await page.getByRole('button', { name: 'Save the picture: Viral share by length' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format }).click(),
      ]);
      return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
    };
    const svg = await saved('SVG');
    expect(svg.name).toMatch(/_DEMO_viral_share_by_length\.svg$/);
    const text = svg.bytes.toString('utf8');
    expect(text).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    // The light theme's colour of viruses, and nothing that only the window's style sheets know.
    expect(text).toContain('fill="rgb(200, 81, 10)"');
    expect(text).not.toMatch(/var\(|class=|style=/);
    for (const words of ['Viral share by length', 'Length (bp)', 'Demo model']) expect(text).toContain(words);
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

  for (const [size, viewport] of Object.entries(SIZES)) {
    test(`fits: ${size}, empty`, async ({ page }) => {
      await page.setViewportSize(viewport);
      await page.goto(engine.url);
      const faults: string[] = [];
      for (const place of ['new run', 'runs', 'computer check', 'settings', 'help'] as const) {
        await goToPlace(page, PLACES[place]);
        faults.push(...(await layoutFaults(page)).map((fault) => `${place}: ${fault}`));
      }
      expect(faults).toEqual([]);
    });
  }
});

const PLOTS = ['Scores by call', 'Viral share by length', 'Length against score', 'Ranked scores'] as const;

async function showPlot(page: Page, plot: (typeof PLOTS)[number]): Promise<void> {
  const plots = page.locator('details', { has: page.getByText('More plots', { exact: true }) });
  if ((await plots.getAttribute('open')) === null) await plots.locator('summary').first().click();
  // The control's own radio button is hidden below its label.
  await plots
    .locator('label')
    .filter({ hasText: new RegExp(`^${plot}$`) })
    .click();
  await expect(plots.getByRole('figure', { name: plot })).toBeVisible();
}

async function goToPlace(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = '${hash}'`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
}

/** What is wrong with the layout as it stands. */
const layoutFaults = (page: Page) => page.evaluate<string[]>(FAULTS);
