import react from '@vitejs/plugin-react';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { markdownPages } from './markdownPages.ts';
import { GUIDE_PAGES } from './state/guidePages.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  root,
  // Relative addresses work at app://, at http://host:port/ and behind an SSH tunnel alike.
  base: './',
  plugins: [react(), markdownPages(GUIDE_PAGES)],
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    // Fonts stay files of their own: the content security policy allows none from data addresses.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
  },
  test: {
    name: 'renderer',
    environment: 'happy-dom',
    include: ['**/*.test.{ts,tsx}'],
    setupFiles: ['testing/setup.ts'],
    // No test changes what a module keeps, and a new environment for each file would cost twice what the tests do.
    isolate: false,
    // As many as the other tests, beside which these run.
    maxWorkers: 2 * availableParallelism(),
    css: false,
    // A deadline for a busy machine, not a measure of speed.
    testTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
