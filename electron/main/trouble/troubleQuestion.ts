import type { WindowTrouble } from '../window/windowHealth.ts';

export type TroubleAnswer = 'wait' | 'reload' | 'safe_mode' | 'browser' | 'log' | 'quit';

interface TroubleQuestion {
  message: string;
  detail: string;
  buttons: string[];
  /** What each button means, in the same order. */
  answers: TroubleAnswer[];
  cancelId: number;
  defaultId: number;
}

const WORDS: Record<WindowTrouble, { message: string; again: [string, TroubleAnswer] }> = {
  not_painted: {
    message: 'The window stays empty.',
    again: ['Wait', 'wait'],
  },
  keeps_ending: {
    message: 'The window has ended several times.',
    again: ['Load the window again', 'reload'],
  },
};

/** What the user is offered who has no window to use. Runs are not touched by any of it. */
export function troubleQuestion(trouble: WindowTrouble, safeMode: boolean): TroubleQuestion {
  const { message, again } = WORDS[trouble];
  const choices: [button: string, answer: TroubleAnswer][] = [
    ...(safeMode ? [] : [['Restart in safe mode', 'safe_mode'] as [string, TroubleAnswer]]),
    ['Open in the browser', 'browser'],
    again,
    ['Show the log', 'log'],
    ['Quit', 'quit'],
  ];
  return {
    message,
    detail:
      `This is most often caused by the graphics driver${safeMode ? ', though this is safe mode already' : ''}. ` +
      (safeMode ? '' : 'Safe mode draws the window without the graphics card; runs use it all the same. ') +
      'The browser shows the same pages. Runs are not affected.',
    buttons: choices.map(([button]) => button),
    answers: choices.map(([, answer]) => answer),
    cancelId: choices.findIndex(([, answer]) => answer === again[1]),
    defaultId: 0,
  };
}
