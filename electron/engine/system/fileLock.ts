/** A lock file that only one process at a time can hold, also on a disk that several computers share. */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { parseJson } from '../../contract/parseJson.ts';
import { replaceFile } from './replaceFile.ts';
import { openPlain, readPlain } from './runFiles.ts';
import { isProcessAlive, processStart } from './liveProcess.ts';

const HEARTBEAT_MS = 10_000;
/**
 * Without a heartbeat for this long, a holder on another computer, or one whose start time is unknown, counts
 * as dead.
 */
const DEAD_AFTER_MS = 60_000;
/** A lock file without content is still being written, unless it is older than this. */
const UNWRITTEN_MS = 5_000;
const RETRY_MS = 50;
/** Far more than the description of a holder needs. */
const MOST_BYTES = 1 << 16;

const holderSchema = z.object({
  host: z.string(),
  pid: z.int().positive(),
  /** See processStart. */
  startTime: z.string().nullable(),
  token: z.string(),
  /**
   * For people who read the file. Its age is judged by the file's time stamp, so that the clocks of two
   * computers are never compared.
   */
  heartbeat: z.string(),
});
export type LockHolder = z.infer<typeof holderSchema>;

export interface FileLock {
  readonly holder: LockHolder;
  /** Whether a lock already existed at the first attempt, held by a living process or left by a dead one. */
  readonly waited: boolean;
  /**
   * Releases the lock; never throws. It is safe to call twice, and after somebody else has taken the lock
   * over.
   */
  release(): void;
}

interface LockOptions {
  /**
   * Called each time the lock is found held. Throw to give up; otherwise it is tried again after `retryMs`.
   */
  onHeld: (holder: LockHolder) => void;
  retryMs?: number;
  /** Makes a wait reject with AbortError. */
  signal?: AbortSignal | undefined;
  /**
   * Called once if somebody else turns out to hold the lock, after this computer slept or was disconnected
   * for long.
   */
  onLost?: (() => void) | undefined;
  heartbeatMs?: number | undefined;
}

/**
 * Acquires the lock, also from a dead holder. Rejects with what `onHeld` throws, and with the system's error
 * if the folder cannot be written. A timer that does not keep the process alive renews the heartbeat until
 * the lock is released.
 */
export async function acquireFileLock(path: string, options: LockOptions): Promise<FileLock> {
  const holder = ourselves();
  for (let waited = false; ; waited = true) {
    if (createLock(path, holder)) return hold(path, holder, waited, options);
    const found = inspectLock(path);
    if (found.state === 'dead' && (await takeOver(path, holder))) return hold(path, holder, true, options);
    if (found.state === 'held') options.onHeld(found.holder);
    const pause = found.state === 'held' ? (options.retryMs ?? RETRY_MS) : RETRY_MS;
    await sleep(pause, undefined, options.signal ? { signal: options.signal } : {});
  }
}

/** Returns the current holder of the lock; null if no living process holds it. */
export function fileLockHolder(path: string): LockHolder | null {
  const found = inspectLock(path);
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

function inspectLock(path: string): Inspection {
  const content = readIfThere(path);
  if (content === null) return { state: 'free' };
  const holder = parseHolder(content);
  const age = ageOf(path);
  if (!holder) return { state: age !== null && !isWithin(age, UNWRITTEN_MS) ? 'dead' : 'unwritten' };
  return isAlive(holder, age) ? { state: 'held', holder } : { state: 'dead' };
}

/** A time stamp in the future was not set by the clock of the file's own disk. */
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

/**
 * Age of the lock file by the clock of its own disk, read from a new file beside it; null if it cannot be
 * determined.
 */
function ageOf(path: string): number | null {
  const probe = `${path}.${randomUUID()}.probe`;
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

/** Returns false if a lock file already exists. */
function createLock(path: string, holder: LockHolder): boolean {
  try {
    writeDurably(path, holder, 'create');
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/**
 * Replaces the lock of a dead holder. Only one process at a time may try, and it checks again first: if two
 * saw the same dead lock, the second must not take it from the first. Returns false if somebody else was
 * faster.
 */
async function takeOver(path: string, holder: LockHolder): Promise<boolean> {
  const takeover = `${path}.takeover`;
  if (!createLock(takeover, holder)) {
    // A process that died during the few milliseconds of a takeover left this file.
    const age = ageOf(takeover);
    if (age !== null && !isWithin(age, DEAD_AFTER_MS)) rmSync(takeover, { force: true });
    return false;
  }
  try {
    if (inspectLock(path).state !== 'dead') return false;
    const prepared = `${path}.${holder.token}`;
    writeDurably(prepared, holder, 'create');
    replaceFile(prepared, path);
  } finally {
    rmSync(takeover, { force: true });
  }
  await sleep(RETRY_MS);
  return isOurs(path, holder);
}

function hold(
  path: string,
  holder: LockHolder,
  waited: boolean,
  { onLost, heartbeatMs = HEARTBEAT_MS }: LockOptions,
): FileLock {
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
      return; // The disk may be unavailable for a while; the next heartbeat tries again.
    }
    stop();
    onLost?.();
  }, heartbeatMs);
  timer.unref();
  return {
    holder,
    waited,
    release() {
      if (!held) return;
      stop();
      try {
        if (isOurs(path, holder)) rmSync(path, { force: true });
      } catch {
        // The disk is gone or became read-only: once this process ends, the lock has a dead holder.
      }
    },
  };
}

function isOurs(path: string, holder: LockHolder): boolean {
  const content = readIfThere(path);
  return content !== null && parseHolder(content)?.token === holder.token;
}

/**
 * The content always has the same length, so a heartbeat written in place never leaves the end of an older
 * one.
 */
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
    // A longer file does not describe a holder.
    return readPlain(path, MOST_BYTES)?.toString('utf8') ?? '';
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function parseHolder(content: string): LockHolder | undefined {
  return parseJson(holderSchema, content);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
