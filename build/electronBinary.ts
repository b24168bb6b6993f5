import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';

const root = join(import.meta.dirname, '..');
const electronFolder = join(root, 'node_modules', 'electron');
const DEFAULT_SOURCE = 'https://github.com/electron/electron/releases/download/';

/** The address from which Electron's program is downloaded. */
export function electronSource(env: NodeJS.ProcessEnv = process.env): string {
  return env['ELECTRON_MIRROR'] || env['npm_config_electron_mirror'] || DEFAULT_SOURCE;
}
const REACHABLE_WITHIN_MS = 10_000;
const DOWNLOAD_WITHIN_MS = 15 * 60_000;
/** Makes Node use HTTPS_PROXY and similar variables. */
const THROUGH_PROXY = { NODE_USE_ENV_PROXY: '1' };

type ElectronSearch = { found: true; file: string } | { found: false; reason: string };

/** Finds Electron's program, either where npm put it or in ELECTRON_OVERRIDE_DIST_PATH. */
export function findElectron(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): ElectronSearch {
  const file = join(
    env['ELECTRON_OVERRIDE_DIST_PATH'] ?? join(electronFolder, 'dist'),
    electronName(platform),
  );
  return existsSync(file)
    ? { found: true, file }
    : { found: false, reason: 'the Electron program is not on this computer' };
}

function electronName(platform: NodeJS.Platform): string {
  if (platform === 'win32') return 'electron.exe';
  return platform === 'darwin' ? join('Electron.app', 'Contents', 'MacOS', 'Electron') : 'electron';
}

/** Why this computer can't show its own window. */
export function missingDisplay(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform === 'win32' || platform === 'darwin') return undefined;
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? undefined : 'this computer has no screen';
}

/** Downloads Electron's program as its package would, if the address can be reached. */
export async function fetchElectron(): Promise<ElectronSearch> {
  const source = electronSource();
  if (!(await isReachable(source))) {
    return { found: false, reason: `Electron is not here and ${new URL(source).host} cannot be reached` };
  }
  process.stderr.write('Fetching Electron, about 120 MB, once ...\n');
  const result = await execa(process.execPath, [join(electronFolder, 'install.js')], {
    reject: false,
    env: THROUGH_PROXY,
    timeout: DOWNLOAD_WITHIN_MS,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const found = findElectron();
  if (found.found) return found;
  const [firstLine = 'no reason given'] = result.stderr.split('\n');
  return { found: false, reason: `Electron could not be fetched (${firstLine})` };
}

/** Checks this in a separate process, since Node reads the proxy from the environment only when it starts. */
export async function isReachable(source: string, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const ask = `await fetch(${JSON.stringify(source)}, { method: 'HEAD' })`;
  const asked = await execa(process.execPath, ['--input-type=module', '--eval', ask], {
    env: { ...env, ...THROUGH_PROXY },
    extendEnv: false,
    reject: false,
    timeout: REACHABLE_WITHIN_MS,
    stdio: 'ignore',
  });
  return asked.exitCode === 0;
}
