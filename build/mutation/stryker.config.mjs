import { SLICES, SLICE_VARIABLE } from './slices.ts';

const { mutate } = SLICES[process.env[SLICE_VARIABLE]];

export default {
  // Not on the command line, where Stryker takes the commas within braces for ends of patterns.
  mutate: [...mutate, '!**/*.test.ts'],
  testRunner: 'vitest',
  vitest: { configFile: 'build/mutation/vitest.config.ts' },
  plugins: ['@stryker-mutator/vitest-runner'],
  // The computer is shared, and half of the time goes by in the tests themselves.
  concurrency: 1,
  coverageAnalysis: 'perTest',
  // Constants made while a module loads would need all tests once for each mutant.
  ignoreStatic: true,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false },
  jsonReporter: { fileName: 'test-results/mutation.json' },
  tempDirName: '.stryker-tmp',
  ignorePatterns: ['dist', 'out', 'screenshots', 'docs', 'python-backend/.venv'],
};
