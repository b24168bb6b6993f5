import { message, MESSAGES, type Message } from '../../../contract/messages.ts';
import type { RunEvent } from '../../../contract/rpc/runs.ts';
import type { RunPhase } from '../../../contract/runState.ts';
import type { NumberedRunEvent } from '../../store/sqlite/telemetry/eventPages.ts';

/** An event of a run's database in the form that a window shows. */
export function toRunEvent(event: NumberedRunEvent): RunEvent {
  const phase = event.code === 'phase' ? phaseMessage(event.message) : undefined;
  return {
    id: event.id,
    time: new Date(event.time).toISOString(),
    level: event.level === 'debug' ? 'info' : event.level,
    code: event.code,
    message: phase?.text ?? event.message,
    wording: phase?.wording ?? event.wording ?? null,
    detail: event.detail,
  };
}

/** The sentence for a change of phase, which the database stores as the phase's name only. */
function phaseMessage(phase: string): Message | undefined {
  const key = `phase.${phase}`;
  return Object.hasOwn(MESSAGES, key) ? message(key as `phase.${RunPhase}`) : undefined;
}
