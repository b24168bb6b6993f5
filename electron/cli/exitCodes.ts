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
  const failures = state.failedParts + state.failedRecords + (state.failedInputs ?? 0);
  return failures > 0 ? EXIT.doneWithFailures : EXIT.done;
}

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Signals that end what this program does, keeping everything. */
export function stopSignals(): readonly StopSignal[] {
  return ['SIGINT', 'SIGTERM', ...(writesToTerminal() ? (['SIGHUP'] as const) : [])];
}

/**
 * SIGHUP says that the terminal has gone. What writes to a file or a pipe goes on without it, as under nohup, whose wish
 * to ignore the signal Node.js forgets at its start. SIGXFSZ says that a file has become as long as it may; the write that
 * made it so fails, and says so.
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
