import { defineConfig } from '@playwright/test';
import { findChromium } from './e2e/support/findChromium.ts';

const chromium = findChromium();

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results/e2e',
  globalSetup: './e2e/support/buildOnce.ts',
  // Every test has an engine with real workers of its own: two at once would only wait for one another.
  workers: 1,
  timeout: 300_000,
  expect: { timeout: 60_000 },
  forbidOnly: process.env['CI'] !== undefined,
  // A test that passes only at the second try has found something.
  retries: 0,
  reporter: 'list',
  use: { trace: 'retain-on-failure', viewport: { width: 1440, height: 900 } },
  projects: [
    {
      name: 'web',
      testMatch: 'web/*.spec.ts',
      use: {
        launchOptions: {
          ...(chromium === undefined ? {} : { executablePath: chromium }),
          // Chromium refuses its own sandbox to root, which is who one is in most containers.
          args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
        },
      },
    },
    { name: 'electron', testMatch: 'electron/*.spec.ts' },
  ],
});
