import { app, dialog, shell, type BrowserWindow } from 'electron';
import type { ShellLog } from '../../engine/index.ts';
import type { BrowserMode } from '../trouble/browserMode.ts';
import { relaunch } from '../relaunch.ts';
import { SAFE_MODE_SWITCH } from '../trouble/safeMode.ts';
import { troubleQuestion, type TroubleAnswer } from '../trouble/troubleQuestion.ts';
import { WindowHealth, type WindowTrouble } from './windowHealth.ts';

interface WindowKeeperOptions {
  log: ShellLog;
  safeMode: boolean;
  browserMode: BrowserMode;
  /** Makes a window, which shows itself as soon as it is painted. */
  make: () => BrowserWindow;
  mayOpen: () => boolean;
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
      while ((await this.ask(trouble)) === 'log') await shell.openPath(this.options.log.file);
    } finally {
      this.asking = false;
    }
  }

  private async ask(trouble: WindowTrouble): Promise<TroubleAnswer> {
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
    if (painted.signal.aborted) return 'wait';
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
        app.once('will-quit', () => {
          relaunch(SAFE_MODE_SWITCH);
        });
        app.quit();
        break;
      case 'browser':
        this.current()?.hide();
        await browserMode.open();
        break;
      case 'quit':
        app.quit();
        break;
      case 'log':
        break;
    }
    return answer;
  }
}
