import { appError, type AppError } from '../../contract/errors.ts';
import { goalText, type Goal } from '../../contract/goal.ts';
import { isActive, type RunState } from '../../contract/runState.ts';

/** Events of a run as a whole. */
export type LifecycleEvent =
  | { type: 'start' }
  | { type: 'pause' }
  | { type: 'drain' }
  /** The run has reached its goal: like `drain`, but it records why it stopped. */
  | { type: 'enough'; goal: Goal }
  | { type: 'workers_idle' }
  | { type: 'halt'; error: AppError }
  | { type: 'parts_settled' }
  | { type: 'tables_written'; failedParts: number; failedRecords: number; failedInputs: number }
  | { type: 'cancel' }
  | { type: 'reopen' };

type Transition = { ok: true; state: RunState } | { ok: false; error: AppError };

const to = (state: RunState): Transition => ({ ok: true, state });

function impossible(state: RunState, event: LifecycleEvent): Transition {
  return {
    ok: false,
    error: appError('usage', `A run that is ${describePhase(state)} cannot take "${event.type}".`),
  };
}

/**
 * The whole life of a run. Whatever is not listed is refused, never ignored.
 *
 * created -> running -> finishing -> done
 *               |  ^        |
 *   pausing/draining |      +-> paused (tables could not be written)
 *               v    |
 *             paused-+      cancelled ends it; `start` takes every run up again, and `reopen` only puts one to rest
 *                           that was interrupted. Whether a run is at work already, only its opener knows.
 */
export function transition(state: RunState, event: LifecycleEvent): Transition {
  switch (event.type) {
    case 'start':
      return to({ phase: 'running' });
    case 'pause':
      return state.phase === 'running' || state.phase === 'draining'
        ? to({ phase: 'pausing' })
        : impossible(state, event);
    case 'drain':
      return state.phase === 'running' ? to({ phase: 'draining' }) : impossible(state, event);
    case 'enough':
      return state.phase === 'running'
        ? to({ phase: 'draining', enough: event.goal })
        : impossible(state, event);
    case 'workers_idle':
      if (state.phase === 'draining' && state.enough)
        return to({ phase: 'paused', error: null, enough: state.enough });
      return state.phase === 'pausing' || state.phase === 'draining'
        ? to({ phase: 'paused', error: null })
        : impossible(state, event);
    case 'halt':
      return isActive(state) ? to({ phase: 'paused', error: event.error }) : impossible(state, event);
    case 'parts_settled':
      return state.phase === 'running' || state.phase === 'draining' || state.phase === 'pausing'
        ? to({ phase: 'finishing' })
        : impossible(state, event);
    case 'tables_written':
      return state.phase === 'finishing'
        ? to({
            phase: 'done',
            failedParts: event.failedParts,
            failedRecords: event.failedRecords,
            ...(event.failedInputs > 0 ? { failedInputs: event.failedInputs } : {}),
          })
        : impossible(state, event);
    case 'cancel':
      return state.phase === 'done' || state.phase === 'cancelled'
        ? impossible(state, event)
        : to({ phase: 'cancelled' });
    case 'reopen':
      return to({ phase: 'paused', error: null });
  }
}

export function describePhase(state: RunState): string {
  if (state.phase === 'paused' && state.enough)
    return `paused: its goal ${goalText(state.enough)} is reached, and the rest is not computed`;
  const words: Record<RunState['phase'], string> = {
    created: 'not started',
    running: 'running',
    pausing: 'being paused',
    draining: 'finishing the parts in work',
    paused: 'paused',
    finishing: 'writing its results',
    done: 'done',
    failed: 'failed',
    cancelled: 'cancelled',
  };
  return words[state.phase];
}
