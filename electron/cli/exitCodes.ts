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
  return state.failedParts > 0 || state.failedRecords > 0 ? EXIT.doneWithFailures : EXIT.done;
}
