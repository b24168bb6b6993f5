import type { Registered } from '../../../store/types.ts';
import type { WorkEvent } from '../workEvents.ts';
import type { Decision } from './decision.ts';
import { startDevices } from './devices.ts';
import { offer } from './parts.ts';
import { preparedKey } from './workState.ts';

/** Starts with the waiting parts. Prepare rewrites the files of those that have lost theirs. */
export function start(
  decision: Decision,
  { parts, lost, prepared }: Extract<WorkEvent, { type: 'started' }>,
): void {
  const { state } = decision;
  if (state.ended) return;
  if (parts.length > 0 || !prepared) startDevices(decision);
  const unusable = new Set(lost);
  for (const part of parts) {
    if (unusable.has(part.key)) state.awaited.add(preparedKey(part.key));
    else offer(decision, part);
  }
  if (!prepared) {
    startPrepare(decision);
  } else if (state.awaited.size > 0) {
    state.supply = 'invalidating';
    decision.ask({ type: 'invalidate_prepare' });
  } else {
    state.supply = 'finished';
  }
}

export function partPrepared(decision: Decision, key: string, registered: Registered): void {
  const { queue, awaited } = decision.state;
  // Another reading of the input replaces the part.
  if (registered === 'replaced') queue.withdraw(key);
  const wasAwaited = awaited.delete(key);
  if (registered !== 'known' || wasAwaited) decision.ask({ type: 'read_part', key });
}

/** All inputs were read completely. */
export function prepared(decision: Decision): void {
  const { state } = decision;
  if (state.awaited.size > 0) startPrepare(decision);
  else state.supply = 'finished';
}

export function startPrepare(decision: Decision): void {
  const { state } = decision;
  if (state.ended) return;
  state.supply = 'preparing';
  decision.do({ type: 'start_prepare' });
}
