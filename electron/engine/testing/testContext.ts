import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { EngineContext } from '../engineContext.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { DEADLINES, type DeadlineLimits } from '../workers/deadlines.ts';
import {
  APP_PATHS,
  COMPARED_TABLES,
  FAULTY_PYTHON,
  REAL_PYTHON,
  SAMPLE,
  WITHOUT_PYTHON,
} from './realFiles.ts';
import { testBundle } from './testBundles.ts';

export { COMPARED_TABLES, REAL_PYTHON, SAMPLE, WITHOUT_PYTHON };

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
    source: APP_PATHS.pythonSource,
  };
  if (options.fault) {
    process.env['VIRNUCPRO_FAULT'] = options.fault;
    process.env['VIRNUCPRO_REAL_PYTHON'] = REAL_PYTHON;
  }
  return {
    appVersion: 'test',
    paths: APP_PATHS,
    environment,
    storeHost: testBundle('storeHost.mjs', new URL('../store/sqlite/hostEntry.ts', import.meta.url)),
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
