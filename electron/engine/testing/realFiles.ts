/** Files in the repository that tests and related commands use. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RESULT_FILES } from '../../contract/results.ts';
import { resolveAppPaths } from '../environment/appPaths.ts';

const paths = resolveAppPaths({ startFolder: import.meta.dirname });
if (!paths.ok) throw new Error(paths.error.cause);
export const APP_PATHS = paths.value;
const { root, environmentFolder } = APP_PATHS;

/** Made-up contigs, most of which have an open reading frame. */
export const SAMPLE = join(root, 'python-backend', 'tests', 'data', 'sample.fa');
/** Random weights in the formats of the published files. */
export const RANDOM_MODEL = join(root, 'python-backend', 'tests', 'data', 'demo-model');
export const REAL_PYTHON = join(
  environmentFolder,
  ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']),
);
/** Starts the real backend with the fault that VIRNUCPRO_FAULT names. */
export const FAULTY_PYTHON = join(root, 'python-backend', 'tests', 'faulty', 'python.sh');

export const WITHOUT_PYTHON = existsSync(REAL_PYTHON)
  ? undefined
  : 'the Python environment is not there yet; "npm test" makes it';

/**
 * The tables whose bytes must not depend on the course of a run. run.json is not among them, since it
 * contains timings.
 */
export const COMPARED_TABLES = [
  RESULT_FILES.originalFrames,
  RESULT_FILES.originalChunks,
  RESULT_FILES.sequences,
  RESULT_FILES.chunks,
  RESULT_FILES.viralSequences,
  RESULT_FILES.failedFiles,
  RESULT_FILES.failedRecords,
];
