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
      found.push(...(await complaints(page, place)));
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
    const search = page.getByRole('dialog').getByRole('textbox');
    await search.fill('Lake plankton');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { level: 1, name: 'Lake plankton' })).toBeFocused();
    await page.keyboard.press('Control+k');
    await expect(search).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    expect(await page.evaluate<boolean>('document.activeElement !== document.body')).toBe(true);
  });

  for (const [size, viewport] of Object.entries(SIZES)) {
    test(`fits: ${size}`, async ({ page }) => {
      await page.setViewportSize(viewport);
      await page.goto(engine.url);
      const faults: string[] = [];
      for (const [place, hash] of Object.entries(PLACES)) {
        await goToPlace(page, hash);
        faults.push(...(await layoutFaults(page)).map((fault) => `${place}: ${fault}`));
      }
      expect(faults).toEqual([]);
    });
  }
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

async function goToPlace(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = '${hash}'`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
}

/** What is wrong with the layout as it stands. */
const layoutFaults = (page: Page) => page.evaluate<string[]>(FAULTS);
