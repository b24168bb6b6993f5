import { app, type BrowserWindow } from 'electron';
import type { ShellLog } from '../../engine/index.ts';
import { askBesideLog } from '../askUser.ts';
import type { ShellTexts } from '../shellTexts.ts';

/** Longer than any computer needs to show the page. */
const PAINTS_WITHIN_MS = 15_000;
const RELOAD_AFTER_MS = 500;
/** A page that ends more often than this within a minute is not loaded again by itself. */
const MOST_ENDS = 3;
const FORGOTTEN_AFTER_MS = 60_000;

interface WindowKeeperOptions {
  log: ShellLog;
  safeMode: boolean;
  texts: () => ShellTexts;
  /** Creates a window, which shows itself as soon as it is painted. */
  make: () => BrowserWindow;
  mayOpen: () => boolean;
  restartInSafeMode: () => void;
}

/**
 * The program's one window: creates it, brings it to the front, loads a page again that crashed, and says what to do if it cannot be shown.
 */
export class WindowKeeper {
  private readonly options: WindowKeeperOptions;
  private window: BrowserWindow | undefined;
  private painted = false;
  private paintTimer: NodeJS.Timeout | undefined;
  private ends: number[] = [];
  private asking = false;

  constructor(options: WindowKeeperOptions) {
    this.options = options;
  }

  readonly current = (): BrowserWindow | undefined =>
    this.window?.isDestroyed() === false ? this.window : undefined;

  readonly show = (): void => {
    const { make, mayOpen } = this.options;
    if (!mayOpen()) return;
    const there = this.current();
    if (there) {
      if (there.isMinimized()) there.restore();
      there.show();
      there.focus();
    } else {
      this.window = make();
      this.watch(this.window);
    }
  };

  private watch(window: BrowserWindow): void {
    const { log } = this.options;
    this.painted = false;
    window.once('ready-to-show', () => {
      this.painted = true;
      clearTimeout(this.paintTimer);
    });
    window.on('unresponsive', () => log.write('warning', 'The page does not answer.'));
    window.on('closed', () => {
      clearTimeout(this.paintTimer);
    });
    window.webContents.on('did-fail-load', (_, code, description) => {
      log.write('error', `The page could not be loaded: ${description} (${code}).`);
    });
    window.webContents.on('render-process-gone', (_, { reason, exitCode }) => {
      log.write('error', `The page's process has ended: ${reason}, exit code ${exitCode}.`);
      // The engine continues whatever happens to the page, which finds everything unchanged when it returns.
      if (reason !== 'clean-exit') this.pageEnded();
    });
    this.expectPaint();
  }

  private expectPaint(): void {
    clearTimeout(this.paintTimer);
    this.paintTimer = setTimeout(() => {
      this.options.log.write(
        'error',
        `The window has not been painted in ${PAINTS_WITHIN_MS / 1000} s. GPU: ${JSON.stringify(app.getGPUFeatureStatus())}`,
      );
      void this.help();
    }, PAINTS_WITHIN_MS);
  }

  private pageEnded(): void {
    const now = performance.now();
    this.ends = [...this.ends.filter((time) => now - time < FORGOTTEN_AFTER_MS), now];
    if (this.ends.length > MOST_ENDS) void this.help();
    else setTimeout(() => this.current()?.webContents.reload(), RELOAD_AFTER_MS);
  }

  private async help(): Promise<void> {
    const { log, mayOpen, restartInSafeMode, safeMode, texts } = this.options;
    if (this.asking || !mayOpen()) return;
    this.asking = true;
    const t = texts();
    const command = `${app.isPackaged ? 'virnucpro' : 'npm run virnucpro --'} serve --open`;
    const answer = await askBesideLog(
      {
        type: 'warning',
        message: t('shell.trouble.window'),
        detail: t('shell.trouble.cause', { command, isSafe: safeMode ? 'yes' : 'no' }),
        choices: [
          ...(safeMode ? [] : [[t('shell.trouble.safeMode'), 'safe_mode'] as const]),
          [t('shell.trouble.again'), 'again'],
          [t('shell.quit'), 'quit'],
        ],
        cancel: 'again',
      },
      { log, t, window: this.current() },
    ).finally(() => (this.asking = false));
    log.write('info', `The window cannot be shown. Chosen: ${answer}.`);
    if (answer === 'safe_mode') restartInSafeMode();
    else if (answer === 'quit') app.quit();
    else {
      this.ends = [];
      if (!this.painted) this.expectPaint();
      this.current()?.webContents.reload();
    }
  }
}
