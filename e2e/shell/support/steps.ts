import { basename } from 'node:path';
import type { Page } from '@playwright/test';
import { drop, goTo, LONG_MS, takeTeachingModel } from '../../support/window.ts';
import { expect, shellLog, type Places, type ShellApp } from './fixtures.ts';

/**
 * Quits like the menu item. The call does not wait for the end, because the test answers the questions on the
 * way.
 */
export async function quit(app: ShellApp): Promise<void> {
  await app.evaluate(({ app: running }) => {
    setTimeout(() => running.quit());
  });
}

/** Drops files on the window. Electron knows their paths, and the stand-in is told. */
export async function dropGiven(page: Page, paths: string[]): Promise<void> {
  const known = Object.fromEntries(paths.map((path) => [basename(path), path]));
  await page.evaluate(`window.droppedPaths = ${JSON.stringify(known)}`);
  await drop(page, paths);
}

/** Drops files on the window, as a user does, and starts a run of them with the teaching model. */
export async function startDroppedRun(page: Page, paths: string[], name: string): Promise<void> {
  await goTo(page, 'New run');
  await dropGiven(page, paths);
  await takeTeachingModel(page);
  await page.getByLabel('Name of the run').fill(name);
  await page.getByRole('button', { name: /^(Start|Add to queue)$/ }).click({ timeout: LONG_MS });
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible({ timeout: LONG_MS });
}

/** From now on every question is answered with the button whose label starts with this text. */
export async function answerQuestions(app: ShellApp, button: string): Promise<void> {
  await app.evaluate(({ dialog }, wanted) => {
    const asked: string[] = [];
    Object.assign(dialog, { asked });
    dialog.showMessageBox = (...args: unknown[]) => {
      const [parent, options] = args as [
        Electron.BrowserWindow,
        { message: string; buttons: string[]; cancelId: number },
      ];
      // macOS would hold up the engine until somebody answers.
      if (!parent.isVisible()) throw new Error('A question without a window that can be seen');
      asked.push(options.message);
      const response = options.buttons.findIndex((words) => words.startsWith(wanted));
      return Promise.resolve({
        response: response < 0 ? options.cancelId : response,
        checkboxChecked: false,
      });
    };
  }, button);
}

/** The questions since the last `answerQuestions`. */
export function questions(app: ShellApp): Promise<string[]> {
  return app.evaluate(({ dialog }) => (dialog as unknown as { asked: string[] }).asked);
}

export function isVisible(app: ShellApp): Promise<boolean> {
  return app.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows().some((window) => window.isVisible()),
  );
}

/** From now on the app only says how it would start again: `RELAUNCH` and the options. */
export async function catchRelaunch(app: ShellApp): Promise<void> {
  await app.evaluate(({ app: running }) => {
    running.relaunch = (options) => {
      process.stdout.write(`RELAUNCH ${JSON.stringify(options)}\n`);
    };
  });
}

/** Ends the process of the page. */
export async function crash(app: ShellApp): Promise<void> {
  await app.evaluate(({ BrowserWindow }) => {
    BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer();
  });
}

/** The page is reloaded three times without a question. */
export async function crashThreeTimes(app: ShellApp, places: Places): Promise<void> {
  for (let ends = 1; ends <= 3; ends++) {
    await crash(app);
    await expect.poll(() => shellLog(places)).toMatch(new RegExp(`(page's process has ended[^]*){${ends}}`));
    await expect.poll(() => showsItself(app), { timeout: 60_000 }).toBeTruthy();
  }
}

/** Does not use Playwright's page, which accepts no calls once its process has ended. */
function showsItself(app: ShellApp): Promise<unknown> {
  return app.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows()[0]
      ?.webContents.executeJavaScript("document.querySelector('nav a') !== null && performance.now()")
      .catch(() => false),
  );
}
