import { defineConfig } from 'vitest/config';
import { SLICES, SLICE_VARIABLE } from './slices.ts';

export default defineConfig({
  test: {
    include: [...(SLICES[process.env[SLICE_VARIABLE] ?? '']?.tests ?? [])],
    environment: 'node',
    setupFiles: ['electron/engine/testing/setUpTests.ts', 'build/mutation/setUp.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
