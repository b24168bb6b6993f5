import { deviceNamed, message as sentence } from '../../../../contract/messages.ts';
import { type WorkEffect, type WorkEvent, Decision, type WorkState } from './workState.ts';
import {
  exclude,
  followPace,
  include,
  leave,
  scoresDamaged,
  workerDied,
  workerStopped,
  startDevices,
} from './devices.ts';
import { drain, handOut } from './handOut.ts';
import { lose, offer, partFailed, partGivenUp, partSplit, settle, supersede } from './parts.ts';
import { type Registered, preparedKey } from '../../../store/types.ts';
import type { StoreAnswer } from '../partLedger.ts';

/**
 * Makes all decisions of a work session: updates the state with the event and returns the effects to carry
 * out. It reads no clock and does nothing itself; the same events always give the same effects.
 */
export function decideWork(state: WorkState, event: WorkEvent): WorkEffect[] {
  const decision = new Decision(state);
  take(decision, event);
  return decision.effects;
}

function take(decision: Decision, event: WorkEvent): void {
  const { state } = decision;
  switch (event.type) {
    case 'started':
      start(decision, event);
      break;
    case 'prepare_failed':
      decision.halt(event.error);
      break;
    case 'stop':
      state.ended = true;
      break;

    // Workers
    case 'worker_starting':
      decision.show(decision.device(event.device), { state: 'starting' });
      break;
    case 'worker_loading':
      decision.show(decision.device(event.device), { state: 'loading' });
      break;
    case 'worker_ready':
      decision.showWork(decision.device(event.device));
      break;
    case 'part_done': {
      const { done } = event;
      const device = decision.device(event.device);
      if (!leave(decision, device, done.part)) break;
      followPace(device, done);
      decision.ask({ type: 'store_scores', done });
      break;
    }
    case 'part_failed': {
      const { device, failed } = event;
      const wasRecalled = state.recalled.has(failed.part);
      if (leave(decision, decision.device(device), failed.part)) partFailed(decision, failed, wasRecalled);
      break;
    }
    case 'worker_died':
      workerDied(decision, decision.device(event.device), event.error, event.restartAttempt);
      break;
    case 'worker_stopped':
      workerStopped(decision, decision.device(event.device));
      break;
    case 'worker_note': {
      const device = deviceNamed(decision.device(event.device));
      decision.note(event.level, 'worker_note', sentence('note.worker', { device, text: event.message }));
      break;
    }
    case 'out_of_memory': {
      const device = deviceNamed(decision.device(event.device));
      const { tokens_per_batch_before: before, tokens_per_batch_after: after } = event.oom;
      decision.note(
        'warning',
        'smaller_batches',
        sentence('note.smaller_batches', { device, after, before }),
      );
      break;
    }
    case 'part_progress': {
      const device = decision.device(event.device);
      if (device.held[0] === event.progress.part) device.residuesDone = event.progress.residues_done;
      return;
    }
    case 'heartbeat':
    case 'held_up':
    case 'stalls':
    case 'prepare_progress':
      return; // These events are only measured and displayed.

    // A cluster
    case 'shares_merged':
      for (const key of event.keys) state.queue.withdraw(key);
      break;
    case 'shares_failed':
      decision.halt(event.error);
      break;

    // Prepare
    case 'part_prepared':
      partPrepared(decision, event.key, event.registered);
      break;
    case 'prepared':
      prepared(decision);
      break;
    case 'input_left_out':
      // They will be parts of other sequences.
      for (const { key, lastRow } of state.parts.values())
        if (lastRow >= event.firstRow) state.queue.withdraw(key);
      // There may be fewer parts now, and what is not written again need not be waited for.
      state.awaited.clear();
      startPrepare(decision);
      break;

    // The user
    case 'drain':
      drain(decision);
      break;
    case 'exclude_device':
      exclude(decision, decision.device(event.device));
      break;
    case 'include_device':
      include(decision, decision.device(event.device));
      break;
    case 'parts_offered':
      for (const part of event.parts) offer(decision, part);
      break;
    case 'part_withdrawn':
      state.queue.withdraw(event.key);
      break;

    default:
      state.unanswered -= 1;
      takeAnswer(decision, event);
  }
  handOut(decision);
}

function takeAnswer(decision: Decision, answer: StoreAnswer): void {
  switch (answer.type) {
    case 'attempt_ended':
      if (answer.outcome === 'damaged') lose(decision, answer.key, answer.failure?.message ?? '');
      break;
    case 'scores_stored':
      scoresStored(decision, answer);
      break;
    case 'part_split':
      partSplit(decision, answer);
      break;
    case 'part_given_up':
      partGivenUp(decision, answer);
      break;
    case 'part_read':
      for (const part of answer.parts) offer(decision, part);
      break;
    case 'prepare_invalidated':
      startPrepare(decision);
      break;
    case 'store_failed':
      decision.halt(answer.error);
      break;
  }
}

function scoresStored(
  decision: Decision,
  { key, intake }: Extract<StoreAnswer, { type: 'scores_stored' }>,
): void {
  switch (intake.outcome) {
    case 'scores_damaged':
      scoresDamaged(decision, key, intake.message);
      break;
    case 'part_damaged':
      lose(decision, key, intake.message);
      break;
    case 'taken': {
      const device = decision.holder(key);
      if (device) device.damagedInRow = 0;
      settle(decision, key);
      break;
    }
    case 'already_done':
      settle(decision, key);
      break;
    case 'superseded':
      supersede(decision, key);
  }
}

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

function partPrepared(decision: Decision, key: string, registered: Registered): void {
  const { queue, awaited } = decision.state;
  // Another reading of the input replaces the part.
  if (registered === 'replaced') queue.withdraw(key);
  awaited.delete(key);
  decision.ask({ type: 'read_part', key });
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
