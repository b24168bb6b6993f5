import { HERE } from './here.ts';
import type { ProcessEntry } from './types.ts';

/**
 * When a process on this computer was started, usable only for comparisons: a later process with the same
 * number has a different start. Null if there is no such process, or if the system cannot tell cheaply
 * (Windows).
 */
export function processStart(pid: number): string | null {
  return entryOf(pid)?.start ?? null;
}

/**
 * Whether a process on this computer is running, whoever owns it. A process that has ended but was not reaped
 * is not running.
 */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It exists and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return entryOf(pid)?.state !== ZOMBIE;
}

const ZOMBIE = 'Z';

function entryOf(pid: number): ProcessEntry | null {
  try {
    return HERE.processEntry(pid);
  } catch {
    return null;
  }
}

/**
 * Ends this process immediately, as the signal does by default. process.exit() is not used, because it waits
 * for every thread, including one that hangs in a database call. Databases and runs are built to survive
 * this.
 */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

export function endByForce(): void {
  endBySignal('SIGKILL');
}

/** Ends this process by force if it has not ended by itself within this time. */
export function endByForceAfter(milliseconds: number): void {
  setTimeout(endByForce, milliseconds).unref();
}
