import { errorOf } from '../../../../contract/errors.ts';
import { message as sentence } from '../../../../contract/messages.ts';
import { inWords, said } from '../../../../contract/problems.ts';
import type { PartFailed } from '../../../../contract/protocol/index.ts';
import { type StoredPart, preparedKey } from '../../../store/types.ts';
import type { Decision } from './workState.ts';
import type { PartFailure, StoreAnswer } from '../partLedger.ts';
import { afterFailure, CUT_AFTER, firstTrial, GIVEN_UP_AFTER, trialOfHalf, type Trial } from './trial.ts';

/** How often the work file of a part is rewritten in one session. */
const MOST_LOSSES = 3;

/** A part becomes ready to be computed. */
export function offer(
  { state: { queue, parts } }: Decision,
  part: StoredPart,
  trial: Trial = firstTrial(part.bisected || part.attempts > 0),
): void {
  parts.set(part.key, part);
  if (queue.has(part.key)) return;
  queue.add({ key: part.key, residues: part.residues, round: part.round, trial });
}

/** The part is done, failed or cut in two. */
export function settle({ state }: Decision, key: string): void {
  state.queue.settle(key);
  state.parts.delete(key);
}

/** The part was computed from another reading of the inputs, or is nothing to compute any more. */
export function supersede(decision: Decision, key: string): void {
  settle(decision, key);
  decision.ask({ type: 'read_part', key });
}

/** The part returns unscored, through no fault of its own. */
export function giveBack(decision: Decision, key: string, outcome: 'recalled' | 'interrupted'): void {
  const { queue } = decision.state;
  decision.ask({ type: 'end_attempt', key, outcome, failure: null });
  queue.giveBack(key, queue.trialOf(key));
}

export function partFailed(decision: Decision, failed: PartFailed, wasRecalled: boolean): void {
  const { part, code, message, detail } = failed;
  if (code === 'recalled' && wasRecalled) {
    giveBack(decision, part, 'recalled');
  } else if (code === 'disk_full' || code === 'folder_unwritable') {
    // The computer is to blame, not the part.
    giveBack(decision, part, 'interrupted');
    decision.halt({ ...errorOf({ code, values: { reason: message } }), detail });
  } else if (code === 'part_unreadable' && lossesOf(decision, part) < MOST_LOSSES) {
    decision.ask({ type: 'end_attempt', key: part, outcome: 'damaged', failure: { code, message } });
  } else {
    attemptFailed(decision, part, { code: code === 'recalled' ? 'internal_error' : code, message });
  }
}

/** A worker died, or ran out of memory, on a part. */
export function attemptFailed(
  decision: Decision,
  key: string,
  failure: PartFailure,
  deathsBefore?: number,
): void {
  decision.ask({ type: 'end_attempt', key, outcome: 'worker_lost', failure });
  tryAgainOrSplit(decision, key, failure, deathsBefore);
}

/**
 * A part that fails is tried again uncut: if something else was the reason, its scores stay byte-identical.
 * One that fails alone, and twice in a row, is cut in two until the responsible sequences are alone, and fail
 * by name.
 */
export function tryAgainOrSplit(
  decision: Decision,
  key: string,
  failure: PartFailure,
  deathsBefore = decision.state.deaths,
): void {
  const { queue, deaths } = decision.state;
  const { stage } = queue.trialOf(key);
  const trial = afterFailure(queue.trialOf(key), deathsBefore, deaths);
  if (stage !== 'alone' || trial.inRow < CUT_AFTER) {
    queue.giveBack(key, trial);
    return;
  }
  queue.remember(key, trial);
  decision.ask({ type: 'split_part', key, failure });
}

function replaceByHalves(decision: Decision, key: string, halves: readonly StoredPart[]): void {
  const trial = trialOfHalf(decision.state.queue.trialOf(key));
  decision.note('warning', 'part_bisected', sentence('note.part_bisected', { part: key }));
  settle(decision, key);
  for (const half of halves) offer(decision, half, trial);
}

/** A part of one chunk is tried alone once more before its sequence fails. */
function giveUpOrTryAgain(decision: Decision, key: string, failure: PartFailure): void {
  const { queue } = decision.state;
  const trial = queue.trialOf(key);
  if (trial.inRow < GIVEN_UP_AFTER) queue.giveBack(key, trial);
  else decision.ask({ type: 'give_up_part', key, failure });
}

export function partSplit(
  decision: Decision,
  { key, split, children, failure }: Extract<StoreAnswer, { type: 'part_split' }>,
): void {
  switch (split.outcome) {
    case 'split':
      replaceByHalves(decision, key, children);
      break;
    case 'indivisible':
      giveUpOrTryAgain(decision, key, failure);
      break;
    case 'superseded':
      supersede(decision, key);
      break;
    case 'part_damaged':
      lose(decision, key, split.message);
      break;
  }
}

export function partGivenUp(
  decision: Decision,
  { key, failing, failure }: Extract<StoreAnswer, { type: 'part_given_up' }>,
): void {
  if (failing.outcome === 'part_damaged') {
    lose(decision, key, failing.message);
    return;
  }
  const text = inWords(said(failure.code, {})).sentence;
  decision.note('error', 'part_failed', sentence('note.part_failed', { part: key, text }), failure.message);
  settle(decision, key);
}

/** The part's file is missing or damaged: prepare must write it again. */
export function lose(decision: Decision, key: string, message: string): void {
  const { state } = decision;
  decision.note('warning', 'part_file_damaged', sentence('note.part_file_damaged', { part: key }), message);
  settle(decision, key);
  const losses = lossesOf(decision, key) + 1;
  state.losses.set(preparedKey(key), losses);
  if (losses > MOST_LOSSES) {
    decision.halt({ ...errorOf({ code: 'work_files_damaged', values: {} }), detail: message });
    return;
  }
  state.awaited.add(preparedKey(key));
  if (state.ended || state.supply !== 'finished') return;
  state.supply = 'invalidating';
  decision.ask({ type: 'invalidate_prepare' });
}

function lossesOf({ state }: Decision, key: string): number {
  return state.losses.get(preparedKey(key)) ?? 0;
}
