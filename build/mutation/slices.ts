/**
 * The code that `npm run test:mutation` changes, and the tests that must notice: those that reach it without
 * another thread or process. They may query a run's database in its thread, as long as the changed code does
 * not run there.
 */
export interface Slice {
  readonly mutate: readonly string[];
  readonly tests: readonly string[];
}

export const SLICES: Readonly<Record<string, Slice>> = {
  results: {
    mutate: ['electron/engine/results/{calibration,cellText,sequenceRemarks,sequenceTally}.ts'],
    tests: ['electron/engine/results/*.test.ts'],
  },
  decide: {
    mutate: ['electron/engine/run/work/decide/*.ts'],
    tests: ['electron/engine/run/work/decide/*.test.ts'],
  },
  runs: {
    mutate: ['electron/engine/service/runs/{runCatalog,runControl}.ts'],
    tests: ['electron/engine/service/runs/{runCatalog,runControl,simultaneousRequests}.test.ts'],
  },
  exports: {
    mutate: [
      'electron/engine/exports/compare/compareRuns.ts',
      'electron/engine/exports/table/{columns,delimited,xlsx}.ts',
    ],
    tests: [
      'electron/engine/exports/{compare/compareRuns,exportResults,otherTools/otherTools}.test.ts',
      'electron/engine/exports/table/*.test.ts',
    ],
  },
  contract: {
    mutate: [
      'electron/contract/{errors,exports,parseJson,runState,samples}.ts',
      'electron/contract/terminal/*.ts',
      'electron/engine/exports/samples.ts',
    ],
    tests: [
      'electron/contract/**/*.test.ts',
      'electron/cli/repeatedCommand.test.ts',
      'electron/engine/exports/samples.test.ts',
    ],
  },
};

/** The variable by which the runner passes the slice to Vitest's configuration. */
export const SLICE_VARIABLE = 'VIRNUCPRO_MUTATION_SLICE';
