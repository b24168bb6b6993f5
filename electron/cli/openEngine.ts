import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ok, type Result } from '../contract/result.ts';
import { parseJson } from '../contract/parseJson.ts';
import {
  engineBase,
  type EngineContext,
  ensureEnvironment,
  type EnvironmentState,
  networkVariables,
  readSetupSettings,
  resolveAppPaths,
} from '../engine/index.ts';

export interface OpenEngineOptions {
  python?: string | undefined;
  /** File of this process, by which the store's threads are started. */
  storeHost: URL;
  onEnvironment?: (state: EnvironmentState) => void;
}

/** Makes the engine ready in this process: its folders and its Python environment. */
export async function openEngine(options: OpenEngineOptions): Promise<Result<EngineContext>> {
  const paths = resolveAppPaths({ startFolder: import.meta.dirname });
  if (!paths.ok) return paths;
  const setup = readSetupSettings(paths.value.usualDataDir);
  const environment = await ensureEnvironment({
    paths: paths.value,
    interpreter: options.python ?? (process.env['VIRNUCPRO_PYTHON'] || setup.interpreter) ?? undefined,
    env: networkVariables(setup),
    ...(options.onEnvironment ? { onState: options.onEnvironment } : {}),
  });
  if (!environment.ok) return environment;
  return ok({
    ...engineBase({
      appVersion: appVersion(paths.value.root),
      paths: paths.value,
      storeHost: options.storeHost,
    }),
    environment: environment.value,
  });
}

declare const APP_VERSION: string | undefined;

/** The bundle has the version built in; from source it stands in package.json. */
export function appVersion(root: string): string {
  if (typeof APP_VERSION === 'string') return APP_VERSION;
  const file = join(root, 'package.json');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return parseJson(z.object({ version: z.string() }), text)?.version ?? 'unknown';
}
