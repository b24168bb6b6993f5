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
  if (state.phase !== 'done') return EXIT.failed;
  const failures = state.failedParts + state.failedRecords + (state.failedInputs ?? 0);
  return failures > 0 ? EXIT.doneWithFailures : EXIT.done;
}
