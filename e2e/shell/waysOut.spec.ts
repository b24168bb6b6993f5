/** Tests every way to quit during a run. */
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { writeSample } from '../support/inputs.ts';
import { isProcessAlive } from '../../electron/engine/system/liveProcess.ts';
import { finishedParts, liveWorkers } from '../support/runDatabase.ts';
import { isDone, partsDone, runState } from '../support/window.ts';
import { expect, firstWindow, openDatabases, test as base, type ShellApp } from './support/fixtures.ts';
import {
  answerQuestions,
  catchRelaunch,
  crash,
  crashThreeTimes,
  isVisible,
  questions,
  quit,
  startDroppedRun,
} from './support/steps.ts';

interface Fixtures {
  /** An app with a run at work, whose workers compute only the permitted parts. */
  working: { app: ShellApp; page: Page; folder: string; workers: number[] };
  /**
   * The app has exited normally, even though its page was reading the run; no process, thread or open database
   * is left, and the finished parts are kept.
   */
  expectCleanEnd: () => Promise<void>;
}

const test = base.extend<Fixtures>({
  working: async ({ start, places, permits }, use) => {
    const app = await start({ env: permits.environment });
    const page = await firstWindow(app);
    const input = join(places.files, 'contigs.fasta');
    await writeSample(input, 2);
    await startDroppedRun(page, [input], 'Long run');
    await partsDone(page);
    let workers: number[] = [];
    const folder = join(places.files, 'Long run_NOT_FOR_RESEARCH');
    await expect.poll(() => (workers = liveWorkers(folder)).length).toBeGreaterThan(0);
    await use({ app, page, folder, workers });
  },
  expectCleanEnd: async ({ working: { app, folder, workers }, places, host }, use) => {
    await use(async () => {
      expect(await app.ended(), app.output).toBe(0);
      await expect.poll(() => [app.pid, ...workers].filter(isProcessAlive)).toEqual([]);
      if (host === 'stand-in') expect(app.output).toContain('THREADS AT QUIT 0');
      expect([...(await openDatabases(places.data)), ...(await openDatabases(places.files))]).toEqual([]);
      expect(finishedParts(folder).length).toBeGreaterThan(0);
    });
  },
});

test('closing the window asks: cancel, then continue in the background, a second start, then quit now', async ({
  working: { app, page, workers },
  expectCleanEnd,
  start,
  run,
  permits,
}) => {
  const closeWindow = () =>
    app.evaluate(({ BrowserWindow }) => {
      setTimeout(() => BrowserWindow.getAllWindows()[0]?.close());
    });

  await answerQuestions(app, 'Cancel');
  await closeWindow();
  await expect.poll(() => questions(app)).toEqual([expect.stringContaining('“Long run” is still at work')]);
  await expect(runState(page, 'Running')).toBeVisible();
  expect(await isVisible(app)).toBe(true);

  await answerQuestions(app, 'Keep running');
  await closeWindow();
  await expect.poll(() => isVisible(app)).toBe(false);
  expect(workers.filter(isProcessAlive)).not.toEqual([]);

  expect(await run({ env: permits.environment })).toBe(0);
  await expect.poll(() => isVisible(app)).toBe(true);

  await answerQuestions(app, 'Quit now');
  await quit(app);
  await expectCleanEnd();

  // The next start offers to continue the interrupted run, which then goes on.
  await permits.lift();
  const again = await start();
  const next = await again.page();
  await next.getByRole('link', { name: 'Runs', exact: true }).click({ timeout: 60_000 });
  await next.getByRole('row', { name: /Long run/ }).click();
  await next.getByRole('button', { name: /^(Resume|Continue)$/ }).click();
  await isDone(next);
});

test('the current parts are finished, then the app quits', async ({
  working: { app },
  expectCleanEnd,
  permits,
}) => {
  await answerQuestions(app, 'Finish the current parts');
  await quit(app);
  await permits.lift();
  await expectCleanEnd();
});

test('a user who cancels the restart in safe mode does not get it when quitting later', async ({
  working: { app },
  expectCleanEnd,
  places,
}) => {
  await catchRelaunch(app);
  // The question about the run has no such button, and is cancelled.
  await answerQuestions(app, 'Restart in safe mode');
  await crashThreeTimes(app, places);
  await crash(app);
  await expect
    .poll(() => questions(app))
    .toEqual(['The window cannot be shown.', expect.stringContaining('is still at work')]);

  await answerQuestions(app, 'Quit now');
  await quit(app);
  await expectCleanEnd();
  expect(app.output).not.toContain('RELAUNCH');
});

test('the system shuts down: no question, and a quick end', async ({ working: { app }, expectCleanEnd }) => {
  await answerQuestions(app, 'Cancel');
  const prevented = await app.evaluate(({ powerMonitor }) => {
    let stopped = false;
    const event = { preventDefault: () => (stopped = true) };
    (powerMonitor as unknown as { emit: (name: string, event: object) => void }).emit('shutdown', event);
    return stopped;
  });
  // "If event.preventDefault() is called, the app will delay system shutdown" until it has ended.
  expect(prevented).toBe(true);
  await expectCleanEnd();
});

test('quitting during the start waits until everything that was opened can be closed', async ({
  start,
  places,
  host,
}) => {
  const app = await start();
  await app.evaluate(
    ({ app: starting }, library) => {
      const { existsSync } = process.getBuiltinModule('node:fs');
      const look = setInterval(() => {
        if (!existsSync(library)) return;
        clearInterval(look);
        starting.quit();
      }, 1);
    },
    join(places.data, 'library.db'),
  );
  expect(await app.ended(), app.output).toBe(0);
  if (host === 'stand-in') expect(app.output).toContain('THREADS AT QUIT 0');
  expect(await openDatabases(places.data)).toEqual([]);
});

test('SIGTERM asks nobody and keeps the computed results', async ({ working: { app }, expectCleanEnd }) => {
  test.skip(process.platform === 'win32', 'Not run, since Windows has no such signals.');
  // Nobody is there to answer.
  await app.evaluate(({ dialog }) => {
    dialog.showMessageBox = () => new Promise(() => undefined);
  });
  process.kill(app.pid, 'SIGTERM');
  await expectCleanEnd();
});
