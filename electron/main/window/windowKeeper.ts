import { app, type BrowserWindow, shell } from 'electron';
import type { ShellLog } from '../../engine/index.ts';
import { askUser, type Question } from '../askUser.ts';
import type { BrowserMode } from '../trouble/browserMode.ts';
import type { ShellTexts } from '../shellTexts.ts';

interface WindowKeeperOptions {
  log: ShellLog;
  safeMode: boolean;
  texts: () => ShellTexts;
  browserMode: BrowserMode;
  /** Creates a window, which shows itself as soon as it is painted. */
  make: () => BrowserWindow;
  mayOpen: () => boolean;
  restartInSafeMode: () => void;
}

/**
 * The program's one window: creates it, brings it to the front, and offers alternatives if it does not work.
 */
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

  /**
   * Whether to ask again: opening the log, or a browser that does not open, leaves the user without a window.
   */
  private async ask(trouble: WindowTrouble): Promise<boolean> {
    const { log, safeMode, browserMode, texts } = this.options;
    const question = troubleQuestion(trouble, safeMode, texts());
    // If the window is painted after all, no answer is needed.
    const painted = new AbortController();
    const dismiss = () => {
      painted.abort();
    };
    this.window?.once('ready-to-show', dismiss);
    const answer = await askUser(question, this.current(), painted.signal);
    this.window?.removeListener('ready-to-show', dismiss);
    if (painted.signal.aborted) return false;
    log.write('info', `${question.message} Chosen: ${answer}.`);
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

export type TroubleAnswer = 'wait' | 'reload' | 'safe_mode' | 'browser' | 'log' | 'quit';

/** The choices for a user whose window does not work. None of them affects runs. */
export function troubleQuestion(
  trouble: WindowTrouble,
  safeMode: boolean,
  t: ShellTexts,
): Question<TroubleAnswer> {
  const tryAgain = trouble === 'not_painted' ? 'wait' : 'reload';
  return {
    type: 'warning',
    message: t(`shell.trouble.${trouble}`),
    detail: t(safeMode ? 'shell.trouble.causeInSafeMode' : 'shell.trouble.cause'),
    choices: [
      ...(safeMode ? [] : [[t('shell.trouble.safeMode'), 'safe_mode'] as const]),
      [t('shell.trouble.browser'), 'browser'],
      [t(`shell.trouble.${trouble}.again`), tryAgain],
      [t('shell.trouble.log'), 'log'],
      [t('shell.quit'), 'quit'],
    ],
    cancel: tryAgain,
  };
}

/** Longer than any computer needs to show the page. */
const PAINTS_WITHIN_MS = 15_000;
/** Delays before the page is reloaded after its first, second and third crash. */
const RELOAD_DELAYS_MS = [0, 1_000, 5_000];
/** Crashes that are further apart are counted separately. */
const FORGOTTEN_AFTER_MS = 60_000;

export type WindowTrouble = 'not_painted' | 'keeps_ending';

/** How long to wait before the crashed page is reloaded; undefined if it has crashed too often. */
export class ReloadPolicy {
  private ends: number[] = [];

  next(now: number): number | undefined {
    this.ends = [...this.ends.filter((time) => now - time < FORGOTTEN_AFTER_MS), now];
    return RELOAD_DELAYS_MS[this.ends.length - 1];
  }

  forget(): void {
    this.ends = [];
  }
}

/** Shows the window once it is painted, reloads a page that crashed, and reports when neither helps. */
export class WindowHealth {
  private readonly window: BrowserWindow;
  private readonly log: ShellLog;
  private readonly trouble: (what: WindowTrouble) => void;
  private readonly policy = new ReloadPolicy();
  private paintTimer: NodeJS.Timeout | undefined;
  private reloadTimer: NodeJS.Timeout | undefined;

  constructor(window: BrowserWindow, log: ShellLog, trouble: (what: WindowTrouble) => void) {
    this.window = window;
    this.log = log;
    this.trouble = trouble;
    window.once('ready-to-show', () => {
      clearTimeout(this.paintTimer);
    });
    window.on('unresponsive', () => log.write('warning', 'The page does not answer.'));
    window.on('closed', () => {
      clearTimeout(this.paintTimer);
      clearTimeout(this.reloadTimer);
    });
    window.webContents.on('did-fail-load', (_, code, description) => {
      log.write('error', `The page could not be loaded: ${description} (${code}).`);
    });
    window.webContents.on('render-process-gone', (_, { reason, exitCode }) => {
      log.write('error', `The page's process has ended: ${reason}, exit code ${exitCode}.`);
      // The engine continues whatever happens to the page, which finds everything unchanged when it returns.
      if (reason !== 'clean-exit') this.reload();
    });
    this.expectPaint();
  }

  /** Gives the window more time to paint. */
  expectPaint(): void {
    clearTimeout(this.paintTimer);
    this.paintTimer = setTimeout(() => {
      this.log.write(
        'error',
        `The window has not been painted in ${PAINTS_WITHIN_MS / 1000} s. GPU: ${JSON.stringify(app.getGPUFeatureStatus())}`,
      );
      this.trouble('not_painted');
    }, PAINTS_WITHIN_MS);
  }

  /** Starts counting again because the user asked for a reload. */
  reloadOnceMore(): void {
    this.policy.forget();
    this.reload();
  }

  private reload(): void {
    if (this.window.isDestroyed()) return;
    const delay = this.policy.next(performance.now());
    if (delay === undefined) {
      this.trouble('keeps_ending');
      return;
    }
    this.reloadTimer = setTimeout(() => {
      if (!this.window.isDestroyed()) this.window.webContents.reload();
    }, delay);
  }
}
