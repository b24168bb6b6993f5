import { existsSync, readFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { z } from 'zod';
import { ok, type Result, appFailure } from '../contract/errors.ts';
import { parseJson } from '../contract/parseJson.ts';
import type { StepProgress } from '../contract/rpc/computer.ts';
import {
  engineBase,
  type EngineContext,
  networkVariables,
  readSetupSettings,
  resolveAppPaths,
  setUp,
  isRunFolder,
  openRunStore,
} from '../engine/index.ts';

interface OpenEngineOptions {
  python?: string | undefined;
  /** The file with which the store's threads are started. */
  storeHost: URL;
  /** Called only if something has to be set up first. */
  onSetUp?: (progress: StepProgress) => void;
}

/** Prepares the engine in this process: its folders and its Python environment. */
export async function openEngine(options: OpenEngineOptions): Promise<Result<EngineContext>> {
  const paths = resolveAppPaths({ startFolder: import.meta.dirname });
  if (!paths.ok) return paths;
  const setup = readSetupSettings(paths.value.usualDataDir);
  const ready = await setUp({
    paths: paths.value,
    interpreter: options.python ?? (process.env['VIRNUCPRO_PYTHON'] || setup.interpreter) ?? undefined,
    env: networkVariables(setup),
    ...(options.onSetUp ? { onProgress: options.onSetUp } : {}),
  });
  if (!ready.ok) return ready;
  return ok({
    ...engineBase({
      appVersion: appVersion(paths.value.root),
      paths: paths.value,
      storeHost: options.storeHost,
    }),
    environment: ready.value.environment,
  });
}

declare const APP_VERSION: string | undefined;

/** The bundle has the version built in; when run from source it is read from package.json. */
export function appVersion(root: string): string {
  if (typeof APP_VERSION === 'string') return APP_VERSION;
  const file = join(root, 'package.json');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return parseJson(z.object({ version: z.string() }), text)?.version ?? 'unknown';
}

/**
 * Opens a run for reading, also while another program works on it, and closes it again. `run` is its folder,
 * or a file in it such as run.json. Needs no Python.
 */
export async function withRun<Answer>(
  run: string,
  storeHost: URL,
  work: (store: Awaited<ReturnType<typeof openRunStore>>) => Promise<Answer>,
): Promise<Answer> {
  const folder = !isRunFolder(run) && isRunFolder(dirname(run)) ? dirname(run) : run;
  if (!isRunFolder(folder)) throw appFailure('folder_not_a_run', `${run} holds no run.db.`);
  const store = await openRunStore(folder, { hostEntry: storeHost, readOnly: true });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
