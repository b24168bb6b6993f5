import { SLICES, SLICE_VARIABLE } from './slices.ts';

const { mutate } = SLICES[process.env[SLICE_VARIABLE]];

export default {
  // This is not passed on the command line, because there Stryker would split the pattern at the commas
  // within braces.
  mutate: [...mutate, '!**/*.test.ts'],
  testRunner: 'vitest',
  vitest: { configFile: 'build/mutation/vitest.config.ts' },
  plugins: ['@stryker-mutator/vitest-runner'],
  // The computer is shared, and the tests themselves need half of the time.
  concurrency: 1,
  coverageAnalysis: 'perTest',
  // Constants that are computed while a module loads would need all tests once for each mutant.
  ignoreStatic: true,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false },
  jsonReporter: { fileName: 'test-results/mutation.json' },
  tempDirName: '.stryker-tmp',
  ignorePatterns: ['dist', 'out', 'screenshots', 'docs', 'python-backend/.venv'],
};
