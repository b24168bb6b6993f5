import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test as base, type Page } from '@playwright/test';
import { EngineProcess, type EngineOptions } from './engineProcess.ts';
import { PartPermits } from './partPermits.ts';

export interface Places {
  home: string;
  data: string;
  /** The folder that the page may access. */
  files: string;
}

interface Fixtures {
  places: Places;
  /** Starts an engine with these folders; it ends with the test. */
  startEngine: (options?: Pick<EngineOptions, 'command' | 'port' | 'env'>) => EngineProcess;
  engine: EngineProcess;
  /** For `testWithPermits`, whose engine has workers that compute only these parts. */
  permits: PartPermits;
  /** The window after the welcome of a first start. */
  window: Page;
}

export const test = base.extend<Fixtures>({
  page: async ({ page }, use) => {
    const thrown: string[] = [];
    page.on('pageerror', ({ message }) => thrown.push(message));
    await use(page);
    expect(thrown, 'errors that the page did not catch').toEqual([]);
  },
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures needed from this pattern.
  places: async ({}, use) => {
    // The name has spaces and letters beyond ASCII, as many home folders do.
    const folder = await mkdtemp(join(tmpdir(), 'Données β 実験 '));
    const places = { home: join(folder, 'home'), data: join(folder, 'data'), files: join(folder, 'files') };
    for (const place of [places.home, places.files]) await mkdir(place);
    await use(places);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  },
  startEngine: async ({ places }, use, testInfo) => {
    const started: EngineProcess[] = [];
    await use((options = {}) => {
      const engine = new EngineProcess({ dataFolder: places.data, filesFolder: places.files, ...options });
      started.push(engine);
      return engine;
    });
    if (testInfo.status !== testInfo.expectedStatus)
      for (const { output } of started)
        process.stderr.write(`The engine of "${testInfo.title}" said:\n${output}`);
    for (const engine of started) await engine.kill();
  },
  engine: async ({ startEngine }, use) => {
    await use(startEngine());
  },
  permits: async ({ places }, use) => {
    await use(new PartPermits(join(dirname(places.data), 'permits')));
  },
  window: async ({ page, engine }, use) => {
    await openFirstWindow(page, engine);
    await use(page);
  },
});

export const testWithPermits = test.extend({
  engine: async ({ startEngine, permits }, use) => {
    await use(startEngine({ env: permits.environment }));
  },
});

export { expect };

/** Opens the printed address with data that no window has seen yet, and passes the welcome. */
export async function openFirstWindow(page: Page, engine: EngineProcess): Promise<void> {
  await page.goto(await engine.address());
  await page.getByRole('button', { name: 'Skip' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
}

export async function openAnotherWindow(page: Page, engine: EngineProcess): Promise<void> {
  await page.goto(await engine.address());
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}
