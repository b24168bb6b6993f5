import type { RunPhase } from '../../contract/runState.ts';

const WORDS: Record<RunPhase, string> = {
  created: 'The run was made.',
  running: 'Work began.',
  pausing: 'The batches in work are being finished.',
  draining: 'The parts in work are being finished.',
  paused: 'The run is paused. Everything computed is kept.',
  finishing: 'All parts are computed; the result tables are being written.',
  done: 'The run is done.',
  failed: 'The run could not go on.',
  cancelled: 'The run was cancelled.',
};

/** The sentence for a change of phase, which the database notes by the phase's name alone. */
export function phaseWords(phase: string): string {
  return Object.hasOwn(WORDS, phase) ? WORDS[phase as RunPhase] : phase;
}
