/**
 * How far the program has got with quitting. `asking`: what should happen to the run; `draining`: the current parts are being finished, and
 * the window stays; `cleaning`: workers are being ended and databases closed.
 */
export type QuitState = 'open' | 'asking' | 'draining' | 'cleaning' | 'gone';

export type QuitAnswer = 'cancel' | 'background' | 'after_parts' | 'now';

export type QuitEvent =
  | { readonly type: 'quit_wanted'; readonly atWork: boolean }
  | { readonly type: 'answered'; readonly answer: QuitAnswer }
  /** No run is being computed any more. */
  | { readonly type: 'at_rest' }
  /** Cleaning up has finished, or its deadline has passed. */
  | { readonly type: 'cleaned' }
  /** The system shuts down: there is no time for questions. */
  | { readonly type: 'system_ends' };

/** What to do next. Only `let_go` lets Electron quit. */
type QuitEffect = 'nothing' | 'ask' | 'hide_window' | 'drain' | 'clean' | 'let_go';

interface QuitStep {
  readonly state: QuitState;
  readonly effect: QuitEffect;
}

/** All steps from the request to quit to the end. Events that do not fit the state change nothing. */
export function quitStep(state: QuitState, event: QuitEvent): QuitStep {
  const stay: QuitStep = { state, effect: 'nothing' };
  const to = (next: QuitState, effect: QuitEffect): QuitStep => ({ state: next, effect });
  switch (event.type) {
    case 'quit_wanted':
      if (state === 'gone') return to('gone', 'let_go');
      if (state === 'open' || state === 'draining') {
        return event.atWork ? to('asking', 'ask') : to('cleaning', 'clean');
      }
      return stay;
    case 'answered':
      if (state !== 'asking') return stay;
      switch (event.answer) {
        case 'cancel':
          return to('open', 'nothing');
        case 'background':
          return to('open', 'hide_window');
        case 'after_parts':
          return to('draining', 'drain');
        case 'now':
          return to('cleaning', 'clean');
      }
    // falls through: every answer has returned.
    case 'at_rest':
      return state === 'draining' ? to('cleaning', 'clean') : stay;
    case 'cleaned':
      return state === 'cleaning' ? to('gone', 'let_go') : stay;
    case 'system_ends':
      return state === 'cleaning' || state === 'gone' ? stay : to('cleaning', 'clean');
  }
}

/** During the clean-up, a second start or a click in the dock must not open a window again. */
export function mayOpenWindow(state: QuitState): boolean {
  return state !== 'cleaning' && state !== 'gone';
}
