import type { RunEvent } from '../../../contract/rpc/runs.ts';
import type { RunPhase } from '../../../contract/runState.ts';
import type { NumberedRunEvent } from '../../store/sqlite/eventPages.ts';

const PHASE_WORDS: Record<RunPhase, string> = {
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

/** What a window shows of an event in a run's database. */
export function toRunEvent(event: NumberedRunEvent): RunEvent {
  return {
    id: event.id,
    time: new Date(event.time).toISOString(),
    level: event.level === 'debug' ? 'info' : event.level,
    code: event.code,
    message: event.code === 'phase' ? phaseWords(event.message) : event.message,
    detail: event.detail,
  };
}

/** The sentence for a change of phase, which the database notes by the phase's name alone. */
function phaseWords(phase: string): string {
  return Object.hasOwn(PHASE_WORDS, phase) ? PHASE_WORDS[phase as RunPhase] : phase;
}
