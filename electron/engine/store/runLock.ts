import { hostname } from 'node:os';
import { join } from 'node:path';
import { appError, AppFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { acquireFileLock, fileLockHolder, type FileLock, type LockHolder } from '../files/fileLock.ts';
import { describeStoreError } from './sqlite/storeErrors.ts';

const LOCK_FILE = 'run.lock';

/** Takes the lock of a run folder. Rejects with run_locked, naming the holder; folder_gone; folder_unwritable. */
export async function acquireRunLock(folder: string, onLost?: () => void): Promise<FileLock> {
  const onHeld = ({ host, pid }: LockHolder) => {
    const held = { folder, pid: String(pid) };
    const cause =
      host === hostname()
        ? message('run.locked.here', held)
        : message('run.locked', { ...held, where: host });
    throw new AppFailure(appError('run_locked', cause));
  };
  try {
    return await acquireFileLock(join(folder, LOCK_FILE), { onHeld, onLost });
  } catch (error) {
    throw new AppFailure(describeStoreError(error, folder));
  }
}

/** Who holds the lock of a run folder now; null if no living process does. */
export function runLockHolder(folder: string): LockHolder | null {
  return fileLockHolder(join(folder, LOCK_FILE));
}
