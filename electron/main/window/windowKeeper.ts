import { app, dialog, shell, type BrowserWindow } from 'electron';
import type { ShellLog } from '../../engine/index.ts';
import type { BrowserMode } from '../trouble/browserMode.ts';
import { troubleQuestion } from '../trouble/troubleQuestion.ts';
import { WindowHealth, type WindowTrouble } from './windowHealth.ts';

interface WindowKeeperOptions {
  log: ShellLog;
  safeMode: boolean;
  browserMode: BrowserMode;
  /** Makes a window, which shows itself as soon as it is painted. */
  make: () => BrowserWindow;
  mayOpen: () => boolean;
  restartInSafeMode: () => void;
}

/** The program's one window: makes it, brings it to the front, and offers another way where it does not work. */
export class WindowKeeper {
  private readonly options: WindowKeeperOptions;
  private window: BrowserWindow | undefined;
  private health: WindowHealth | undefined;
  private asking = false;

  constructor(options: WindowKeeperOptions) {
    this.options = options;
  }

  readonly current = (): BrowserWindow | undefined =>
    this.window?.isDestroyed() === false ? this.window : undefined;

  readonly show = (): void => {
    const { browserMode, log, make, mayOpen } = this.options;
    if (!mayOpen()) return;
    const there = this.current();
    if (browserMode.isOn) {
      void browserMode.ask();
    } else if (there) {
      if (there.isMinimized()) there.restore();
      there.show();
      there.focus();
    } else {
      this.window = make();
      this.health = new WindowHealth(this.window, log, (trouble) => void this.help(trouble));
    }
  };

  private async help(trouble: WindowTrouble): Promise<void> {
    if (this.asking || !this.options.mayOpen()) return;
    this.asking = true;
    try {
      while (await this.ask(trouble));
    } finally {
      this.asking = false;
    }
  }

  /** Whether it has to be asked again: seeing the log, or a browser that does not open, leaves the user without a window. */
  private async ask(trouble: WindowTrouble): Promise<boolean> {
    const { log, safeMode, browserMode } = this.options;
    const { message, detail, buttons, answers, cancelId, defaultId } = troubleQuestion(trouble, safeMode);
    // A window that is painted after all needs no answer.
    const painted = new AbortController();
    const dismiss = () => {
      painted.abort();
    };
    this.window?.once('ready-to-show', dismiss);
    const { response } = await dialog.showMessageBox({
      type: 'warning',
      message,
      detail,
      buttons,
      cancelId,
      defaultId,
      noLink: true,
      signal: painted.signal,
    });
    this.window?.removeListener('ready-to-show', dismiss);
    if (painted.signal.aborted) return false;
    const answer = answers[response] ?? 'wait';
    log.write('info', `${message} Chosen: ${answer}.`);
    switch (answer) {
      case 'wait':
        this.health?.expectPaint();
        break;
      case 'reload':
        this.health?.reloadOnceMore();
        break;
      case 'safe_mode':
        this.options.restartInSafeMode();
        break;
      case 'browser':
        if (!(await browserMode.open())) return true;
        this.current()?.hide();
        break;
      case 'quit':
        app.quit();
        break;
      case 'log':
        await shell.openPath(log.file);
        return true;
    }
    return false;
  }
}
