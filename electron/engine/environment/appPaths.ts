/** Finds the program's own files and its data folder, however the program was started. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ok, type Result, failWith } from '../../contract/errors.ts';
import { HERE } from '../system/here.ts';
import type { System } from '../system/types.ts';
import { setupSettingsSchema, type SetupSettings } from '../../contract/rpc/computer.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { writeJson } from '../system/replaceFile.ts';

export interface AppPaths {
  /** The folder that contains python-backend/ and resources/. */
  readonly root: string;
  readonly pythonBackend: string;
  /** Added to PYTHONPATH. */
  readonly pythonSource: string;
  readonly resources: string;
  /**
   * Contains settings, downloaded weights and, in a packaged app, the Python environment. Never inside the
   * program's folder.
   */
  readonly dataDir: string;
  /** The data folder if no setting moves it; the setting itself is always stored here. */
  readonly usualDataDir: string;
  /** The virtual environment that this program creates. */
  readonly environmentFolder: string;
}

export interface AppPathsRequest {
  /** Electron's `process.resourcesPath` in a packaged app. */
  readonly resourcesPath?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly system?: System;
  /** Where the search for the program's folder starts; by default the folder of the running file. */
  readonly startFolder?: string;
}

/** Uses VIRNUCPRO_HOME, else a packaged app's resources, else the nearest folder above the running file. */
export function resolveAppPaths(request: AppPathsRequest = {}): Result<AppPaths> {
  const env = request.env ?? process.env;
  const fixed = env['VIRNUCPRO_HOME'] || request.resourcesPath;
  const start = request.startFolder ?? import.meta.dirname;
  const root = fixed ? (isAppRoot(fixed) ? resolve(fixed) : undefined) : findUpwards(start);
  if (root === undefined) {
    return failWith(
      'internal',
      `The program's folders python-backend and resources are not in ${fixed ?? start}.`,
      {
        nextStep: 'Install the program again, or set VIRNUCPRO_HOME to the folder that holds them.',
      },
    );
  }
  const usualDataDir = resolveDataDir(env, request.system ?? HERE);
  const named = env['VIRNUCPRO_DATA_DIR'];
  const dataDir = (named ? null : readSetupSettings(usualDataDir).dataFolder) ?? usualDataDir;
  const pythonBackend = join(root, 'python-backend');
  return ok({
    root,
    pythonBackend,
    pythonSource: join(pythonBackend, 'src'),
    resources: join(root, 'resources'),
    dataDir,
    usualDataDir,
    environmentFolder: isCheckout(root) ? join(pythonBackend, '.venv') : join(dataDir, 'python'),
  });
}

function resolveDataDir(env: NodeJS.ProcessEnv, system: System): string {
  const chosen = env['VIRNUCPRO_DATA_DIR'];
  if (chosen) return resolve(chosen);
  return system.dataFolder(env, env['HOME'] || env['USERPROFILE'] || homedir());
}

function findUpwards(start: string): string | undefined {
  for (let folder = resolve(start); ; folder = dirname(folder)) {
    if (isAppRoot(folder)) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

function isAppRoot(folder: string): boolean {
  return (
    existsSync(join(folder, 'python-backend', 'src', 'virnucpro_backend')) &&
    existsSync(join(folder, 'resources'))
  );
}

/**
 * A source checkout has its environment beside the Python project; an installed program may not write there.
 */
function isCheckout(root: string): boolean {
  return existsSync(join(root, 'package-lock.json'));
}

/**
 * The file with the settings that are needed before anything else: where the data folder is, and how the network is reached.
 * It is in the default data folder, since the library with the other settings is in the data folder that
 * they name.
 */
export function setupFile(usualDataDir: string): string {
  return join(usualDataDir, 'setup.json');
}

/** A missing or damaged file counts as an empty one. */
export function readSetupSettings(usualDataDir: string): SetupSettings {
  let text: string | undefined;
  try {
    text = readFileSync(setupFile(usualDataDir), 'utf8');
  } catch {
    // Usually there is no file.
  }
  return parseJson(setupSettingsSchema, text) ?? setupSettingsSchema.parse({});
}

export function writeSetupSettings(usualDataDir: string, settings: SetupSettings): void {
  const file = setupFile(usualDataDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A proxy's address may contain a password.
  writeJson(file, setupSettingsSchema.parse(settings), 0o600);
}

/** The environment for installers and downloads: the settings take precedence over the user's shell. */
export function networkVariables(
  { proxy, certificateFile, packageIndex }: SetupSettings,
  inherited: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const env = { ...inherited };
  if (proxy !== null) {
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) {
      env[name] = proxy;
      env[name.toLowerCase()] = proxy;
    }
  }
  if (certificateFile !== null) {
    for (const name of ['SSL_CERT_FILE', 'PIP_CERT', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE']) {
      env[name] = certificateFile;
    }
  }
  if (packageIndex !== null) {
    env['PIP_INDEX_URL'] = packageIndex;
    env['UV_DEFAULT_INDEX'] = packageIndex;
  }
  return env;
}
