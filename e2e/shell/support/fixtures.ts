import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { findElectron, missingDisplay } from '../../../build/electronBinary.ts';
import { findChromium } from '../../support/findChromium.ts';
import { test as base, type Places } from '../../support/fixtures.ts';
import { runShell, startShell, type Host, type ShellApp, type ShellOptions } from './shellApp.ts';

interface Fixtures {
  host: Host;
  /**
   * Starts the app with a home and data of its own. When the test is over, checks that the app handled all of
   * its errors.
   */
  start: (options?: Partial<Omit<ShellOptions, 'host'>>) => Promise<ShellApp>;
  /** Starts the app without controlling it, and resolves at its end. */
  run: (options?: Partial<Omit<ShellOptions, 'host'>>) => ReturnType<typeof runShell>;
}

export const test = base.extend<Fixtures>({
  host: ['stand-in', { option: true }],
  start: async ({ host, places }, use) => {
    skipWithout(host);
    const started: ShellApp[] = [];
    await use(async (options = {}) => {
      const { env, ...rest } = options;
      const app = await startShell({ host, env: { ...environment(places), ...env }, ...rest });
      started.push(app);
      return app;
    });
    for (const app of started) {
      await app.dispose();
      expect(app.output, 'errors that the main process did not catch').not.toMatch(
        /UNCAUGHT EXCEPTION|UNHANDLED REJECTION|UnhandledPromiseRejection|JavaScript error occurred/,
      );
    }
  },
  run: async ({ host, places }, use) => {
    skipWithout(host);
    await use(({ env, ...rest } = {}) =>
      runShell({ host, env: { ...environment(places), ...env }, ...rest }),
    );
  },
});

export { expect };

function skipWithout(host: Host): void {
  const electron = findElectron();
  const chromium = findChromium() === undefined ? 'there is no Chromium here' : undefined;
  const screen = electron.found ? missingDisplay() : electron.reason;
  const reason = host === 'stand-in' ? chromium : screen;
  test.skip(reason !== undefined, `Not run, since ${reason ?? ''}.`);
}

/** The environment of a user with an empty home. */
function environment({ home, data }: Places): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: undefined,
    XDG_DATA_HOME: undefined,
    VIRNUCPRO_DATA_DIR: data,
  };
}

/** Returns the first window, after the welcome of a first start. */
export async function firstWindow(app: ShellApp): Promise<Page> {
  const page = await app.page();
  await page.getByRole('button', { name: 'Skip' }).click({ timeout: 60_000 });
  await expect(page.getByRole('dialog')).toBeHidden();
  return page;
}

/**
 * Databases below a folder that were not closed, of runs and of the list of runs: SQLite leaves files beside
 * those.
 */
export async function openDatabases(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /(run|library)\.db-(wal|shm)$/.test(name));
}

export async function shellLog({ data }: Pick<Places, 'data'>): Promise<string> {
  const file = join(data, 'logs', 'shell.log');
  return existsSync(file) ? readFile(file, 'utf8') : '';
}

export type { Places, ShellApp };
