import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunRequest } from '../../contract/rpc/runs.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import type { RunDescription } from '../store/types.ts';
import { storedRequest } from './runRecord.ts';

/*
 * A run names the place where it is computed: through a batch script, on a login node, or on a cluster that
 * is sent its token. For a run from somebody else, using it would execute what they wrote. A run may also
 * claim that later runs should rely on its scores. So each run gets a signature over its description and
 * location, made with a key that never leaves this user's data folder. A run without a valid signature, or
 * one that was moved or changed, was not made here.
 */

type Paths = Pick<AppPaths, 'usualDataDir'>;

const KEY_BYTES = 32;

/**
 * Signs a run that is being created. Null if the data folder can't be written to: the run is then treated as
 * somebody else's.
 */
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
    const signed = description.options.madeHere;
    return key !== null && signed === signature(key, folder, description.runId, request);
  } catch {
    return false;
  }
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
