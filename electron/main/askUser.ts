import { BrowserWindow, dialog, shell } from 'electron';
import type { ShellLog } from '../engine/index.ts';
import type { ShellTexts } from './shellTexts.ts';

/** A question in a dialog of the system; the first choice is the default. */
export interface Question<Answer> {
  readonly type?: 'question' | 'warning' | 'error';
  readonly message: string;
  readonly detail: string;
  readonly choices: readonly (readonly [button: string, answer: Answer])[];
  /** The answer of who closes the dialog. */
  readonly cancel: NoInfer<Answer>;
}

/**
 * Asks above a window that can be seen: the given one, or else one made for this question. Without it, macOS would hold up this thread, and
 * with it the engine, until somebody answers.
 */
export async function askUser<const Answer>(
  { type = 'question', message, detail, choices, cancel }: Question<Answer>,
  window?: BrowserWindow,
): Promise<Answer> {
  const parent = window ?? new BrowserWindow({ width: 600, height: 300, autoHideMenuBar: true });
  parent.show();
  try {
    const { response } = await dialog.showMessageBox(parent, {
      ...{ type, message, detail },
      buttons: choices.map(([button]) => button),
      cancelId: choices.findIndex(([, answer]) => answer === cancel),
      defaultId: 0,
      noLink: true,
    });
    return choices[response]?.[1] ?? cancel;
  } finally {
    if (parent !== window) parent.destroy();
  }
}

/** Asks with one more button, which shows the log and asks again. */
export async function askBesideLog<const Answer>(
  question: Question<Answer>,
  { log, t, window }: { log: ShellLog; t: ShellTexts; window?: BrowserWindow | undefined },
): Promise<Answer> {
  const choices = [...question.choices, [t('shell.trouble.log'), 'log'] as const];
  for (;;) {
    const answer = await askUser<Answer | 'log'>({ ...question, choices }, window);
    if (answer !== 'log') return answer;
    await shell.openPath(log.file);
  }
}
