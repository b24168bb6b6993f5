/**
 * Downloads uv, which installs Python and packages, to the folder where packaging and a checkout look for it:
 *
 *   npm run node -- build/pack/fetchUv.ts [linux-x64 | linux-arm64 | darwin-arm64 | win32-x64]     for this kind, or for the one named
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unwrap } from '../../electron/contract/errors.ts';
import { resolveAppPaths } from '../../electron/engine/environment/appPaths.ts';
import {
  fetchedUvFolder,
  fetchOtherUv,
  fetchOwnUv,
  knownKind,
  UV_KINDS,
  uvFileName,
} from '../../electron/engine/environment/install/uv.ts';
import { runCommand } from '../../electron/engine/environment/runCommand.ts';
import { KIND_HERE } from '../../electron/engine/system/here.ts';

/** Returns the folder with uv and its licences; downloads it only if this version is not there yet. */
export async function fetchUv(target: string = KIND_HERE): Promise<string> {
  const kind = knownKind(target);
  if (kind === null)
    throw new Error(`uv is not fetched for ${target}; there are ${Object.keys(UV_KINDS).join(', ')}.`);
  const root = join(import.meta.dirname, '..', '..');
  const folder = fetchedUvFolder(root, kind);
  if (existsSync(join(folder, uvFileName(kind)))) return folder;
  const request = { run: runCommand, env: process.env };
  if (target === KIND_HERE) {
    unwrap(await fetchOwnUv({ root }, request));
  } else {
    const uv = join(await fetchUv(), uvFileName(KIND_HERE));
    const paths = unwrap(resolveAppPaths({ startFolder: root }));
    unwrap(await fetchOtherUv(kind, folder, { ...request, paths, uv }));
  }
  return folder;
}

if (import.meta.main) process.stdout.write(`${await fetchUv(process.argv[2])}\n`);
