import react from '@vitejs/plugin-react';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('.', import.meta.url));

export default defineConfig({
  root,
  // Relative addresses work at app://, at http://host:port/ and behind an SSH tunnel alike.
  base: './',
  plugins: [react()],
  server: {
    proxy: {
      '/rpc': { target: 'ws://127.0.0.1:4170', ws: true },
      '/upload': 'http://127.0.0.1:4170',
      '/download': 'http://127.0.0.1:4170',
    },
  },
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
    css: false,
    // A busy machine takes its time; what never comes fails all the same.
    testTimeout: 30_000,
  },
});
