/**
 * Ends this process at once, as the signal does by itself. Not by process.exit(), which waits for every thread, including one
 * that hangs in the middle of a call to a database. Databases and runs are made to survive it.
 */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

export function endByForce(): void {
  endBySignal('SIGKILL');
}

/** Ends this process by force if it has not ended by itself until then. */
export function endByForceAfter(milliseconds: number): void {
  setTimeout(endByForce, milliseconds).unref();
}
