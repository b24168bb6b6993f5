import type { RunState } from '../contract/runState.ts';

export const EXIT = {
  done: 0,
  failed: 1,
  doneWithFailures: 2,
  damaged: 3,
  interrupted: 130,
  terminated: 143,
} as const;

export function exitCodeOf(state: RunState): number {
  if (state.phase === 'paused' && state.enough) return EXIT.done;
  if (state.phase !== 'done') return EXIT.failed;
  const { failedParts, failedRecords, failedInputs = 0, damage } = state;
  return failedParts + failedRecords + failedInputs > 0 || damage ? EXIT.doneWithFailures : EXIT.done;
}

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Signals that end the program's work without losing any of it. */
export function stopSignals(): readonly StopSignal[] {
  return ['SIGINT', 'SIGTERM', ...(writesToTerminal() ? (['SIGHUP'] as const) : [])];
}

/**
 * SIGHUP means that the terminal was closed. A command that writes to a file or a pipe continues without it,
 * as under nohup; Node.js resets nohup's choice to ignore the signal when it starts. SIGXFSZ means that a
 * file has reached its size limit; the write that exceeded it fails and reports that.
 */
export function outliveSignals(): void {
  const outlived = writesToTerminal() ? (['SIGXFSZ'] as const) : (['SIGXFSZ', 'SIGHUP'] as const);
  for (const signal of outlived) process.on(signal, () => undefined);
}

export function exitCodeAfter(signal: StopSignal): number {
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
}

function writesToTerminal(): boolean {
  return process.stdout.isTTY || process.stderr.isTTY;
}
