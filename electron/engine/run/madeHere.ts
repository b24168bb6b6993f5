import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClusterChoice } from '../../contract/cluster.ts';
import { clusterOf, type RunRequest } from '../../contract/rpc/runs.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { MADE_HERE_OPTION, type RunDescription } from '../store/types.ts';
import { storedRequest } from './storedRequest.ts';

/*
 * A run says where it computes: by a batch script, on a login node, on a cluster that is sent its token. Of a run that somebody
 * else made, that would be to execute what they wrote. A run may also say that its scores are those that later runs rely on. So each run gets a signature over what it says and where it lies, by a key
 * that never leaves this user's data folder. A run without it, or one that was moved or changed, was not made here.
 */

type Paths = Pick<AppPaths, 'usualDataDir'>;

const KEY_BYTES = 32;

/** For a run that is being made. Null where the data folder can't be written: the run is then taken for somebody else's. */
export function signRun(paths: Paths, folder: string, runId: string, request: RunRequest): string | null {
  try {
    const key = readKey(paths) ?? makeKey(paths);
    return signature(key, folder, runId, request);
  } catch {
    return null;
  }
}

/** Whether this user made the run on this computer, in this folder. */
export function isMadeHere(paths: Paths, folder: string, description: RunDescription): boolean {
  const request = storedRequest({ description }, folder);
  try {
    const key = readKey(paths);
    const signed = description.options[MADE_HERE_OPTION];
    return key !== null && signed === signature(key, folder, description.runId, request);
  } catch {
    return false;
  }
}

/** The cluster that somebody else's run names: used only where the user says so. */
export function foreignPlace(
  paths: Paths,
  folder: string,
  description: RunDescription,
): ClusterChoice | null {
  const { where } = storedRequest({ description }, folder);
  return isMadeHere(paths, folder, description) ? null : clusterOf(where);
}

function signature(key: Buffer, folder: string, runId: string, { where, calibrates }: RunRequest): string {
  const signed = JSON.stringify([
    runId,
    realpathSync.native(folder),
    where,
    ...(calibrates ? ['calibrates'] : []),
  ]);
  return createHmac('sha256', key).update(signed).digest('hex');
}

function readKey(paths: Paths): Buffer | null {
  try {
    const key = readFileSync(keyFile(paths));
    return key.length === KEY_BYTES ? key : null;
  } catch {
    return null;
  }
}

function makeKey(paths: Paths): Buffer {
  const key = randomBytes(KEY_BYTES);
  const file = keyFile(paths);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, key, { mode: 0o600, flag: 'wx' });
  return key;
}

const keyFile = ({ usualDataDir }: Paths): string => join(usualDataDir, 'runs.key');
