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
