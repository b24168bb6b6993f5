import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { RESULT_FILES } from '../../contract/results.ts';
import type { EngineContext } from '../engineContext.ts';
import { resolveAppPaths } from '../environment/appPaths.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { DEADLINES, type DeadlineLimits } from '../workers/deadlines.ts';

const paths = resolveAppPaths({ startFolder: import.meta.dirname });
if (!paths.ok) throw new Error(paths.error.cause);
const { root, environmentFolder, pythonSource } = paths.value;

export const SAMPLE = join(root, 'resources', 'sample.fa');
export const REAL_PYTHON = join(
  environmentFolder,
  ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']),
);
const FAULTY_PYTHON = join(root, 'python-backend', 'tests', 'faulty', 'python.sh');

export const WITHOUT_PYTHON = existsSync(REAL_PYTHON)
  ? undefined
  : 'the Python environment is not there yet; "npm test" makes it';

/** The tables that must be the same bytes however a run went. run.json holds timings. */
export const COMPARED_TABLES = [
  RESULT_FILES.originalFrames,
  RESULT_FILES.originalChunks,
  RESULT_FILES.sequences,
  RESULT_FILES.chunks,
  RESULT_FILES.viralSequences,
  RESULT_FILES.failedFiles,
  RESULT_FILES.failedRecords,
];

const temporaryFolders: string[] = [];
afterAll(async () => {
  for (const folder of temporaryFolders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** A folder of its own, until the tests of this file are over. */
export async function temporaryFolder(): Promise<string> {
  // Spaces and letters beyond ASCII, as in many a home folder.
  const folder = await mkdtemp(join(tmpdir(), 'Données β 実験 '));
  temporaryFolders.push(folder);
  return folder;
}

/** The engine with the real backend; with a fault, its workers misbehave as faulty.py says. */
export function testContext(
  options: { fault?: string; deadlines?: Partial<DeadlineLimits> } = {},
): EngineContext {
  const environment: PythonEnvironment = {
    interpreter: options.fault ? FAULTY_PYTHON : REAL_PYTHON,
    own: options.fault === undefined,
    pythonVersion: 'test',
    packages: {},
    source: pythonSource,
  };
  if (options.fault) {
    process.env['VIRNUCPRO_FAULT'] = options.fault;
    process.env['VIRNUCPRO_REAL_PYTHON'] = REAL_PYTHON;
  }
  if (!paths.ok) throw new Error(paths.error.cause);
  return {
    appVersion: 'test',
    paths: paths.value,
    environment,
    storeHost: new URL('../store/sqlite/hostEntry.ts', import.meta.url),
    deadlines: { ...DEADLINES, ...options.deadlines },
    restartDelayMs: 50,
  };
}

export async function readTables(folder: string): Promise<Record<string, string>> {
  const tables = await Promise.all(
    COMPARED_TABLES.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const),
  );
  return Object.fromEntries(tables);
}
