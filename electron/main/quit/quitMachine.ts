/** How far the program has got with quitting. */
export type QuitState =
  | { readonly phase: 'open' }
  /** The user is being asked what should happen to the run. */
  | { readonly phase: 'asking' }
  /** The current parts are being finished; the window stays. */
  | { readonly phase: 'draining' }
  /** Workers are being ended and databases closed. */
  | { readonly phase: 'cleaning' }
  | { readonly phase: 'gone' };

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
  const to = (phase: QuitState['phase'], effect: QuitEffect): QuitStep => ({ state: { phase }, effect });
  switch (event.type) {
    case 'quit_wanted':
      if (state.phase === 'gone') return to('gone', 'let_go');
      if (state.phase === 'open' || state.phase === 'draining') {
        return event.atWork ? to('asking', 'ask') : to('cleaning', 'clean');
      }
      return stay;
    case 'answered':
      if (state.phase !== 'asking') return stay;
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
      return state.phase === 'draining' ? to('cleaning', 'clean') : stay;
    case 'cleaned':
      return state.phase === 'cleaning' ? to('gone', 'let_go') : stay;
    case 'system_ends':
      return state.phase === 'cleaning' || state.phase === 'gone' ? stay : to('cleaning', 'clean');
  }
}

/** During the clean-up, a second start or a click in the dock must not open a window again. */
export function mayOpenWindow(state: QuitState): boolean {
  return state.phase !== 'cleaning' && state.phase !== 'gone';
}
