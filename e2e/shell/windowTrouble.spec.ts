/** Tests a window whose process ends, and one that is never painted. */
import { expect, firstWindow, shellLog, test } from './support/fixtures.ts';
import { answerQuestions, catchRelaunch, crash, crashThreeTimes, questions } from './support/steps.ts';

test('a page whose process ended is loaded again; when it ends repeatedly, a question says what to do', async ({
  start,
  places,
}) => {
  const app = await start();
  await firstWindow(app);
  await answerQuestions(app, 'Quit');
  await crashThreeTimes(app, places);
  expect(await questions(app)).toEqual([]);

  await crash(app);
  expect(await app.ended(), app.output).toBe(0);
  expect(await shellLog(places)).toContain('The window cannot be shown. Chosen: quit.');
});

test('a window that is never painted reports this and starts again in safe mode', async ({
  start,
  places,
  host,
}) => {
  test.skip(host === 'electron', 'Not run, since Electron paints.');
  const app = await start({ env: { STAND_IN_NEVER_PAINTS: '1' } });
  await catchRelaunch(app);
  await answerQuestions(app, 'Restart in safe mode');
  expect(await app.ended(), app.output).toBe(0);
  expect(await shellLog(places)).toContain('has not been painted');
  expect(app.output).toMatch(/RELAUNCH .*"--safe-mode"/);
});
