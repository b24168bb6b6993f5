import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, expect, type Page } from '@playwright/test';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';

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
  running: `#/run/${RUN_IDS.running}/progress`,
  'running, files': `#/run/${RUN_IDS.running}/files`,
  waiting: `#/run/${RUN_IDS.queuedFirst}/progress`,
  interrupted: `#/run/${RUN_IDS.interrupted}/progress`,
  halted: `#/run/${RUN_IDS.halted}/progress`,
  'done with failures': `#/run/${RUN_IDS.withFailures}/files`,
  results: `#/run/${RUN_IDS.done}/results`,
  'demo results': `#/run/${RUN_IDS.demo}/results`,
};

test.describe('every screen, at every size', () => {
  let engine: Awaited<ReturnType<typeof serveMemoryEngine>>;
  test.beforeAll(async () => {
    engine = await serveMemoryEngine({ sequences: 2000, devices: 8 });
  });
  test.afterAll(() => engine.stop());

  for (const [size, viewport] of Object.entries(SIZES)) {
    test(`fits: ${size}`, async ({ page }) => {
      await page.setViewportSize(viewport);
      await page.goto(engine.url);
      const faults: string[] = [];
      for (const [place, hash] of Object.entries(PLACES)) {
        await page.evaluate(`location.hash = '${hash}'`);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
        faults.push(...(await layoutFaults(page)).map((fault) => `${place}: ${fault}`));
      }
      expect(faults).toEqual([]);
    });
  }
});

/** What is wrong with the layout as it stands. */
const layoutFaults = (page: Page) => page.evaluate<string[]>(FAULTS);
