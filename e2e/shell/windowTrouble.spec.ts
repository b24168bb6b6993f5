/** Tests a window whose process ends, and one that is never painted. */
import { expect, firstWindow, shellLog, test } from './support/fixtures.ts';
import {
  answerQuestions,
  catchRelaunch,
  crash,
  crashThreeTimes,
  isVisible,
  questions,
} from './support/steps.ts';

test('a page whose process ended is loaded again; when it ends repeatedly, the browser is offered', async ({
  start,
  run,
  places,
}) => {
  const app = await start();
  await firstWindow(app);
  await answerQuestions(app, 'Open in the browser');
  await app.evaluate(({ shell }) => {
    const urls: string[] = [];
    Object.assign(shell, { urls });
    let isFirst = true;
    shell.openExternal = (url) => {
      if (isFirst) {
        isFirst = false;
        return Promise.reject(new Error('There is no program for this'));
      }
      urls.push(url);
      return Promise.resolve();
    };
  });
  await crashThreeTimes(app, places);
  expect(await questions(app)).toEqual([]);

  await crash(app);
  await expect
    .poll(async () => (await questions(app)).map(({ message }) => message))
    // A browser that does not open changes nothing for the user.
    .toEqual([
      'The window has ended several times.',
      'The browser could not be opened.',
      'The window has ended several times.',
    ]);
  const urls = () => app.evaluate(({ shell }) => (shell as unknown as { urls: string[] }).urls);
  await expect.poll(urls).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?token=/)]);
  const [address = ''] = await urls();
  const answer = await fetch(address);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('set-cookie')).not.toBeNull();
  await expect.poll(() => isVisible(app)).toBe(false);

  // There is no window to close, so a second start asks what to do.
  await answerQuestions(app, 'Quit');
  expect(await run()).toBe(0);
  expect(await app.ended()).toBe(0);
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
