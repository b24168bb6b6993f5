import { dialog, type BrowserWindow } from 'electron';

/** A question in a dialog of the system; the first choice is the default. */
export interface Question<Answer> {
  readonly type?: 'question' | 'warning' | 'error';
  readonly message: string;
  readonly detail: string;
  readonly choices: readonly (readonly [button: string, answer: Answer])[];
  /** The answer of who closes the dialog. */
  readonly cancel: NoInfer<Answer>;
}

interface Asked {
  /** A window that waits for the answer. */
  readonly window?: BrowserWindow | undefined;
  /** Closes the dialog. */
  readonly signal?: AbortSignal;
}

export async function askUser<const Answer>(
  { type = 'question', message, detail, choices, cancel }: Question<Answer>,
  { window, ...asked }: Asked = {},
): Promise<Answer> {
  const options = {
    ...{ type, message, detail, ...asked },
    buttons: choices.map(([button]) => button),
    cancelId: choices.findIndex(([, answer]) => answer === cancel),
    defaultId: 0,
    noLink: true,
  };
  const { response } = await (window
    ? dialog.showMessageBox(window, options)
    : dialog.showMessageBox(options));
  return choices[response]?.[1] ?? cancel;
}
