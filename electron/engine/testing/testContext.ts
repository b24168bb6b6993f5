import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineContext } from '../run/engineContext.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { DEADLINES, type DeadlineLimits } from '../workers/deadlines.ts';
import {
  APP_PATHS,
  COMPARED_TABLES,
  FAULTY_PYTHON,
  REAL_PYTHON,
  RANDOM_MODEL,
  SAMPLE,
  WITHOUT_PYTHON,
} from './realFiles.ts';
import { testBundle } from './testBundles.ts';

export { temporaryFolder } from './temporaryFolder.ts';
export { COMPARED_TABLES, RANDOM_MODEL, REAL_PYTHON, SAMPLE, WITHOUT_PYTHON };

/** The engine with the real backend; if a fault is given, its workers misbehave as described in faulty.py. */
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
    storeHost: testBundle('storeHost.mjs', new URL('../store/hostEntry.ts', import.meta.url)),
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
