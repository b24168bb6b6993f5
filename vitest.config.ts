import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      'renderer/vite.config.ts',
      {
        test: {
          name: 'node',
          include: ['{electron,build}/**/*.test.ts'],
          environment: 'node',
          // Real threads, files and child processes take their time on a busy machine.
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
    ],
  },
});
