import react from '@vitejs/plugin-react';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { markdownPages } from './markdownPages.ts';
import { GUIDE_PAGES } from './state/guidePages.ts';

const root = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  root,
  // Relative addresses work at app://, at http://host:port/ and through an SSH tunnel alike.
  base: './',
  plugins: [react(), markdownPages(GUIDE_PAGES)],
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    // Fonts stay separate files: the content security policy does not allow them from data: addresses.
    assetsInlineLimit: 0,
    // A user who starts the program from its sources sees the warning.
    chunkSizeWarningLimit: 2500,
  },
  test: {
    environment: 'happy-dom',
    setupFiles: ['testing/setup.ts'],
    // The other tests run at the same time, with as many workers.
    maxWorkers: 2 * availableParallelism(),
    css: false,
    // This deadline allows for a busy machine; it does not measure speed.
    testTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
