import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, renameSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { appError, AppFailure } from '../../contract/errors.ts';
import { isProcessAlive, processStart } from '../workers/processStart.ts';
import { openPlain, readPlain } from '../files/runFiles.ts';
import { describeStoreError } from './sqlite/storeErrors.ts';

const LOCK_FILE = 'run.lock';
const HEARTBEAT_MS = 10_000;
/** A holder on another computer, or one whose start can't be told, counts as dead after this long without a heartbeat. */
const DEAD_AFTER_MS = 60_000;
/** A lock file without content is being written just now, unless it is older than this. */
const UNWRITTEN_MS = 5_000;
const RETRY_MS = 50;
/** Far more than a holder's description has. */
const MOST_BYTES = 1 << 16;

const holderSchema = z.object({
  host: z.string(),
  pid: z.int().positive(),
  /** See processStart. */
  startTime: z.string().nullable(),
  token: z.string(),
  /** For people; age is judged by the file's time stamp, so that the clocks of two computers are never compared. */
  heartbeat: z.string(),
});
export type LockHolder = z.infer<typeof holderSchema>;

export interface RunLock {
  readonly holder: LockHolder;
  /** Gives the lock back; never throws. Harmless when called twice, and when somebody else has taken it over. */
  release(): void;
}

interface AcquireOptions {
  /** Called once if the lock turns out to be somebody else's, which takes a computer asleep or cut off for long. */
  onLost?: () => void;
  heartbeatMs?: number;
}

/** Takes the lock of a run folder, over from a dead holder too. Rejects with run_locked, naming the holder; folder_gone,
 * folder_unwritable. While held, a timer that doesn't keep the process alive renews the heartbeat. */
export async function acquireRunLock(folder: string, options: AcquireOptions = {}): Promise<RunLock> {
  const path = join(folder, LOCK_FILE);
  const holder = ourselves();
  try {
    for (;;) {
      if (createLock(path, holder)) return hold(path, holder, options);
      const found = inspectLock(path, folder);
      if (found.state === 'held') throw lockedBy(folder, found.holder);
      if (found.state === 'dead' && (await takeOver(path, folder, holder)))
        return hold(path, holder, options);
      await sleep(RETRY_MS);
    }
  } catch (error) {
    throw new AppFailure(describeStoreError(error, folder));
  }
}

/** Who holds the lock of a run folder now; null where nobody alive does. */
export function lockHolder(folder: string): LockHolder | null {
  const found = inspectLock(join(folder, LOCK_FILE), folder);
  return found.state === 'held' ? found.holder : null;
}

function ourselves(): LockHolder {
  return {
    host: hostname(),
    pid: process.pid,
    startTime: processStart(process.pid),
    token: randomUUID(),
    heartbeat: new Date().toISOString(),
  };
}

type Inspection = { state: 'free' | 'unwritten' | 'dead' } | { state: 'held'; holder: LockHolder };

function inspectLock(path: string, folder: string): Inspection {
  const content = readIfThere(path);
  if (content === null) return { state: 'free' };
  const holder = parseHolder(content);
  const age = ageOf(path, folder);
  if (!holder) return { state: age !== null && !isWithin(age, UNWRITTEN_MS) ? 'dead' : 'unwritten' };
  return isAlive(holder, age) ? { state: 'held', holder } : { state: 'dead' };
}

/** A time stamp that lies in the future was never given by the disk that the file lies on. */
function isWithin(age: number, milliseconds: number): boolean {
  return Math.abs(age) <= milliseconds;
}

function isAlive(holder: LockHolder, age: number | null): boolean {
  const isFresh = age === null || isWithin(age, DEAD_AFTER_MS);
  if (holder.host !== hostname()) return isFresh;
  if (!isProcessAlive(holder.pid)) return false;
  const started = processStart(holder.pid);
  if (started === null || holder.startTime === null) return isFresh;
  return started === holder.startTime;
}

/** Age of the lock file by the clock of the disk it lies on: a new file beside it tells that clock's time. */
function ageOf(path: string, folder: string): number | null {
  const probe = join(folder, `${LOCK_FILE}.${randomUUID()}.probe`);
  try {
    const locked = lstatSync(path).mtimeMs;
    closeSync(openPlain(probe, 'create'));
    return lstatSync(probe).mtimeMs - locked;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    if (isCode(error, 'EACCES') || isCode(error, 'EROFS') || isCode(error, 'EPERM')) return null;
    throw error;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** False if there is a lock file already. */
function createLock(path: string, holder: LockHolder): boolean {
  try {
    writeDurably(path, holder, 'create');
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Replaces the lock of a dead holder. Only one at a time may try, and looks again before: two that both saw the dead lock
 * must not take it one after the other. False if somebody else was faster. */
async function takeOver(path: string, folder: string, holder: LockHolder): Promise<boolean> {
  const gate = `${path}.takeover`;
  if (!createLock(gate, holder)) {
    // Left by one that died within the few milliseconds that a take-over takes.
    const age = ageOf(gate, folder);
    if (age !== null && !isWithin(age, DEAD_AFTER_MS)) rmSync(gate, { force: true });
    return false;
  }
  try {
    if (inspectLock(path, folder).state !== 'dead') return false;
    const prepared = `${path}.${holder.token}`;
    writeDurably(prepared, holder, 'create');
    renameSync(prepared, path);
  } finally {
    rmSync(gate, { force: true });
  }
  await sleep(RETRY_MS);
  return isOurs(path, holder);
}

function hold(
  path: string,
  holder: LockHolder,
  { onLost, heartbeatMs = HEARTBEAT_MS }: AcquireOptions,
): RunLock {
  let held = true;
  const stop = () => {
    held = false;
    clearInterval(timer);
  };
  const timer = setInterval(() => {
    try {
      if (isOurs(path, holder)) {
        writeDurably(path, { ...holder, heartbeat: new Date().toISOString() }, 'update');
        return;
      }
    } catch {
      return; // A disk that is away for a while; the next beat tries again.
    }
    stop();
    onLost?.();
  }, heartbeatMs);
  timer.unref();
  return {
    holder,
    release() {
      if (!held) return;
      stop();
      try {
        if (isOurs(path, holder)) rmSync(path, { force: true });
      } catch {
        // A disk that has become read-only, or is gone: the lock is that of a dead process as soon as this one ends.
      }
    },
  };
}

function isOurs(path: string, holder: LockHolder): boolean {
  const content = readIfThere(path);
  return content !== null && parseHolder(content)?.token === holder.token;
}

/** The content has the same length each time, so that a heartbeat written in place is never seen half old, half shorter. */
function writeDurably(path: string, holder: LockHolder, how: 'create' | 'update'): void {
  const descriptor = openPlain(path, how);
  try {
    writeSync(descriptor, JSON.stringify(holder), 0);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function readIfThere(path: string): string | null {
  try {
    // One that is longer is nobody's description.
    return readPlain(path, MOST_BYTES)?.toString('utf8') ?? '';
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function parseHolder(content: string): LockHolder | null {
  try {
    return holderSchema.parse(JSON.parse(content));
  } catch {
    return null;
  }
}

function lockedBy(folder: string, { host, pid }: LockHolder): AppFailure {
  const where = host === hostname() ? 'this computer' : host;
  return new AppFailure(
    appError('run_locked', `${folder} is being worked on by process ${pid} on ${where}.`),
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
