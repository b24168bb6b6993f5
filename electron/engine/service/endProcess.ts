/**
 * Ends this process by force. Not by process.exit(), which waits for every thread, also for one that hangs in the middle of
 * a call to a database; and databases and runs are made to survive it.
 */
export function endByForce(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Ends this process by force if it has not ended by itself until then. */
export function endByForceAfter(milliseconds: number): void {
  setTimeout(endByForce, milliseconds).unref();
}
