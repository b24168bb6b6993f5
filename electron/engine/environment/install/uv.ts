/** `uv`, which brings a Python of its own and installs from a lock file: where it lies and how it is started. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AppPaths } from '../appPaths.ts';
import type { OfflineSource } from './offlineSource.ts';
import { KIND_HERE } from '../../system/here.ts';
import { scrubbedEnvironment } from '../pythonLaunch.ts';
import { uvFileName } from './uvRelease.ts';

/** In a package it is beside the resources; in a checkout it is where build/pack/fetchUv.ts puts it, if it was fetched. */
export function findUv({ root }: Pick<AppPaths, 'root'>): string | undefined {
  const folders = [join(root, 'uv'), join(root, 'dist', 'uv', KIND_HERE)];
  return folders.map((folder) => join(folder, uvFileName(KIND_HERE))).find((file) => existsSync(file));
}

/** Settings of the user's own uv that also hold here: where packages come from, and through which network. */
const KEPT = new Set(
  [
    'DEFAULT_INDEX',
    'INDEX',
    'INDEX_URL',
    'EXTRA_INDEX_URL',
    'FIND_LINKS',
    'PYTHON_INSTALL_MIRROR',
    'PYTHON_DOWNLOADS_JSON_URL',
    'INSECURE_HOST',
    'KEYRING_PROVIDER',
    'OFFLINE',
  ].map((name) => `UV_${name}`),
);
/** pip's names for the same, since mirrors are more often set up for pip. */
const SAME_FOR_PIP = {
  PIP_INDEX_URL: 'UV_DEFAULT_INDEX',
  PIP_EXTRA_INDEX_URL: 'UV_INDEX',
  PIP_CERT: 'SSL_CERT_FILE',
} as const;

/** How long a server that doesn't answer is waited for: in the first step, which shows whether there is a network, and after it. */
export type Patience = 'short' | 'long';

export function uvEnvironment(
  paths: AppPaths,
  inherited: NodeJS.ProcessEnv,
  patience: Patience,
  offline?: OfflineSource,
): Record<string, string> {
  const env = Object.fromEntries(
    Object.entries(scrubbedEnvironment(inherited)).filter(
      ([name]) => !name.startsWith('UV_') || KEPT.has(name),
    ),
  );
  for (const [pip, uv] of Object.entries(SAME_FOR_PIP)) {
    const value = env[pip];
    if (value !== undefined && value !== '') env[uv] ??= value;
  }
  return {
    ...env,
    UV_CACHE_DIR: uvCache(paths),
    UV_PYTHON_INSTALL_DIR: join(uvFolder(paths), 'python'),
    // Nothing of this shows outside of the data folder: no command in the PATH, no entry in the Windows registry.
    UV_PYTHON_INSTALL_BIN: '0',
    UV_PYTHON_INSTALL_REGISTRY: '0',
    UV_NO_CONFIG: '1',
    UV_NO_PROGRESS: '1',
    // What the computer trusts, an institute's own authority included.
    UV_SYSTEM_CERTS: '1',
    UV_HTTP_TIMEOUT: patience === 'short' ? '15' : '60',
    UV_HTTP_RETRIES: patience === 'short' ? '1' : '5',
    NO_COLOR: '1',
    ...(offline && { UV_OFFLINE: '1' }),
    ...(offline?.pythonArchives && { UV_PYTHON_CACHE_DIR: offline.pythonArchives }),
  };
}

/** Wheels on their way into the environment. Kept where a set-up is interrupted, so that it goes on where it stopped. */
export function uvCache(paths: AppPaths): string {
  return join(uvFolder(paths), 'cache');
}

/** In the data folder: the Python that uv has brought, and its cache. */
export function uvFolder(paths: AppPaths): string {
  return join(paths.dataDir, 'uv');
}
