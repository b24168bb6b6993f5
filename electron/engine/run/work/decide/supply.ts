import type { Registered } from '../../../store/types.ts';
import type { WorkEvent } from '../workEvents.ts';
import type { Decision } from './decision.ts';
import { startDevices } from './devices.ts';
import { offer } from './parts.ts';
import { preparedKey } from './workState.ts';

/** The parts that a session begins with. */
export function start(
  decision: Decision,
  { parts, prepared }: Extract<WorkEvent, { type: 'started' }>,
): void {
  const { state } = decision;
  if (state.ended) return;
  if (parts.length > 0 || !prepared) startDevices(decision);
  for (const part of parts) offer(decision, part);
  if (prepared) state.supply = 'finished';
  else startPrepare(decision, 'place');
}

/** What was damaged is computed or read again; for a part being computed, its worker notices the damage itself. */
export function checked(
  decision: Decision,
  { parts, lost, readAgain }: Extract<WorkEvent, { type: 'checked' }>,
): void {
  const { state } = decision;
  const { queue, awaited } = state;
  state.checking = false;
  if (state.ended) return;
  const unusable = new Set(lost);
  for (const key of unusable) {
    if (queue.holder(key) !== undefined) continue;
    queue.withdraw(key);
    awaited.add(preparedKey(key));
  }
  for (const part of parts) if (!unusable.has(part.key)) offer(decision, part);
  const mustRead = readAgain || awaited.size > 0;
  if (queue.waitingCount > 0 || mustRead) startDevices(decision);
  if (!mustRead) return;
  // It has read on top of what was damaged, or begun behind what is lost.
  if (state.supply === 'preparing') startPrepare(decision);
  if (state.supply !== 'finished') return;
  state.supply = 'invalidating';
  decision.ask({ type: 'invalidate_prepare' });
}

export function partPrepared(decision: Decision, key: string, registered: Registered): void {
  const { queue, awaited } = decision.state;
  // Another reading of the input replaces it.
  if (registered === 'replaced') queue.withdraw(key);
  const wasAwaited = awaited.delete(key);
  if (registered !== 'known' || wasAwaited) decision.ask({ type: 'read_part', key });
}

/** All inputs are read to their end. */
export function prepared(decision: Decision): void {
  const { state } = decision;
  if (state.awaited.size > 0) startPrepare(decision);
  else state.supply = 'finished';
}

export function startPrepare(decision: Decision, from: 'place' | 'beginning' = 'beginning'): void {
  const { state } = decision;
  if (state.ended) return;
  state.supply = 'preparing';
  decision.do({ type: 'start_prepare', from });
}
