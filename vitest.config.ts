import { mkdtempSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { onlyLongTests } from './build/checks/longTests.ts';

const LONG = '{electron,build,e2e,packaging}/**/*.long.test.ts';
/** Computes for minutes on one core: begun last, it would keep everybody waiting alone. */
const LONGEST = 'viralShare.long.test.ts';

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification): number => Number(moduleId.endsWith(LONGEST));
    return (await super.sort(files)).toSorted((a, b) => isLongest(b) - isLongest(a));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Charts and focus traps miss the layout, of which the window's test environment has none.
    onConsoleLog: (log) => (/of chart should be greater than 0|use-focus-trap/.test(log) ? false : undefined),
    projects: [
      ...(onlyLongTests
        ? []
        : [
            {
              extends: './renderer/vite.config.ts',
              root: 'renderer',
              // A new environment for each file would take twice as long as the tests.
              test: { name: 'renderer', include: ['**/*.test.ts'], isolate: false },
            },
            {
              extends: './renderer/vite.config.ts',
              root: 'renderer',
              // Tests that show the window change what its modules remember, such as settings and questions answered.
              test: { name: 'window', include: ['**/*.test.tsx'], isolate: true },
            },
          ]),
      {
        test: {
          name: 'node',
          ...(onlyLongTests
            ? { include: [LONG] }
            : { include: ['{electron,build,e2e,packaging}/**/*.test.ts'], exclude: [LONG] }),
          globalSetup: 'build/checks/bundleForTests.ts',
          environment: 'node',
          setupFiles: 'electron/engine/testing/setUpTests.ts',
          // A process for each file would cost as much as many a file's tests.
          isolate: false,
          // Half of a file's time goes by waiting for processes, threads and disks.
          maxWorkers: 2 * availableParallelism(),
          // Whatever a test changes in settings or history is not the user's.
          env: { VIRNUCPRO_DATA_DIR: mkdtempSync(join(tmpdir(), 'virnucpro-tests-')) },
          // Real threads, files and child processes take their time on a busy machine; what hangs is found all the same.
          testTimeout: 600_000,
          hookTimeout: 600_000,
          expect: { poll: { timeout: 120_000 } },
        },
      },
    ],
  },
});
