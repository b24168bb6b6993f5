import { app, type BrowserWindow } from 'electron';
import type { ShellLog } from '../../engine/index.ts';

/** Longer than any computer needs that shows the page at all. */
const PAINTS_WITHIN_MS = 15_000;
/** Waiting times before the page is loaded again after its first, second, third end. */
const RELOAD_DELAYS_MS = [0, 1_000, 5_000];
/** Ends that lie further apart have nothing to do with each other. */
const FORGOTTEN_AFTER_MS = 60_000;

export type WindowTrouble = 'not_painted' | 'keeps_ending';

/** How long to wait before the page that has ended is loaded again; undefined when it has ended too often. */
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
      // The engine goes on whatever becomes of the page, which finds everything as it was when it is back.
      if (reason !== 'clean-exit') this.reload();
    });
    this.expectPaint();
  }

  /** Gives the window another while. */
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

  /** Starts counting again, because the user wants the page reloaded. */
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
