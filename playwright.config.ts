import { availableParallelism } from 'node:os';
import { defineConfig } from '@playwright/test';
import { onlyLongTests } from './build/checks/longTests.ts';
import { findChromium, launchOptions } from './e2e/support/findChromium.ts';
import type { Host } from './e2e/shell/support/shellApp.ts';

export default defineConfig<{ host: Host }>({
  testDir: 'e2e',
  testIgnore: onlyLongTests ? /(?<!\.long)\.spec\.ts$/ : '**/*.long.spec.ts',
  outputDir: 'test-results/e2e',
  globalSetup: './e2e/support/buildOnce.ts',
  // Half of a test's time goes by waiting for what the engine or the page does on one core.
  workers: 2 * availableParallelism(),
  // Whole starts and runs, several in a test, on what may be a busy machine.
  timeout: 900_000,
  expect: { timeout: 120_000 },
  forbidOnly: process.env['CI'] !== undefined,
  // A test that passes only at the second try has found something.
  retries: 0,
  reporter: 'list',
  use: {
    // Otherwise what is not there is waited for until the test's time is over.
    actionTimeout: 120_000,
    // It costs a tenth of all tests; one that fails leaves its page in words. --trace=retain-on-failure where that is not enough.
    trace: 'off',
    viewport: { width: 1440, height: 900 },
    contextOptions: { reducedMotion: 'reduce' },
  },
  projects: [
    {
      name: 'web',
      testMatch: 'web/*.spec.ts',
      use: { launchOptions: launchOptions(findChromium()) },
    },
    // The desktop app in a stand-in for Electron, and in Electron itself where its program is here: the same specs.
    { name: 'shell', testMatch: 'shell/*.spec.ts', use: { host: 'stand-in' } },
    { name: 'electron', testMatch: ['shell/*.spec.ts', 'oldElectron/*.spec.ts'], use: { host: 'electron' } },
  ],
});
