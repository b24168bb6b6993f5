import { appError, type AppError } from '../../contract/errors.ts';
import type { RunState } from '../../contract/runState.ts';

/** What can happen to a run as a whole. */
export type RunHappening =
  | { type: 'start' }
  | { type: 'pause' }
  | { type: 'drain' }
  | { type: 'workers_idle' }
  | { type: 'halt'; error: AppError }
  | { type: 'shards_settled' }
  | { type: 'tables_written'; failedShards: number; failedRecords: number }
  | { type: 'cancel' }
  | { type: 'reopen' };

export type Transition = { ok: true; state: RunState } | { ok: false; error: AppError };

const to = (state: RunState): Transition => ({ ok: true, state });

function impossible(state: RunState, happening: RunHappening): Transition {
  return {
    ok: false,
    error: appError('usage', `A run that is ${describePhase(state)} cannot take "${happening.type}".`),
  };
}

/**
 * The whole life of a run. Whatever is not listed is refused, never ignored.
 *
 * created -> running -> finishing -> done
 *               |  ^        |
 *   pausing/draining |      +-> paused (tables could not be written)
 *               v    |
 *             paused-+      cancelled ends it; `reopen` takes every ended or interrupted run up again.
 */
export function transition(state: RunState, happening: RunHappening): Transition {
  switch (happening.type) {
    case 'start':
      return state.phase === 'created' || state.phase === 'paused'
        ? to({ phase: 'running' })
        : impossible(state, happening);
    case 'pause':
      return state.phase === 'running' || state.phase === 'draining'
        ? to({ phase: 'pausing' })
        : impossible(state, happening);
    case 'drain':
      return state.phase === 'running' ? to({ phase: 'draining' }) : impossible(state, happening);
    case 'workers_idle':
      return state.phase === 'pausing' || state.phase === 'draining'
        ? to({ phase: 'paused', error: null })
        : impossible(state, happening);
    case 'halt':
      return isActive(state) ? to({ phase: 'paused', error: happening.error }) : impossible(state, happening);
    case 'shards_settled':
      return state.phase === 'running' || state.phase === 'draining' || state.phase === 'pausing'
        ? to({ phase: 'finishing' })
        : impossible(state, happening);
    case 'tables_written':
      return state.phase === 'finishing'
        ? to({
            phase: 'done',
            failedShards: happening.failedShards,
            failedRecords: happening.failedRecords,
          })
        : impossible(state, happening);
    case 'cancel':
      return state.phase === 'done' || state.phase === 'cancelled'
        ? impossible(state, happening)
        : to({ phase: 'cancelled' });
    case 'reopen':
      return to({ phase: 'paused', error: null });
  }
}

/** The engine works on the run, or was cut off while it did. */
export function isActive(state: RunState): boolean {
  return (
    state.phase === 'running' ||
    state.phase === 'pausing' ||
    state.phase === 'draining' ||
    state.phase === 'finishing'
  );
}

export function describePhase(state: RunState): string {
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
