/** The program's own check of the computer, in Electron and, as far as that goes, in the stand-in. */
import { expect, shellLog, test } from './support/fixtures.ts';

/** What only Electron and a desktop can show. */
const NEEDS_ELECTRON = [
  'The computer can be kept awake',
  'A notification is shown',
  'A question does not hold up the engine',
  'A report becomes a PDF',
  'The page is in a sandbox',
  'The page cannot leave, open windows, use devices or download',
  'A dropped file has a path, and a made-up one has none',
];

test('the self-check prints a line a point, and finds nothing amiss', async ({ start, places, host }) => {
  const app = await start({ args: ['--self-check'] });
  const code = await app.ended();
  const lines = app.output.split('\n').filter((line) => /^(ok|skip|FAIL) +\d+ /.test(line));
  const failed = lines.filter((line) => line.startsWith('FAIL')).map((line) => /\d+ (.*?): /.exec(line)?.[1]);
  expect(lines.map((line) => Number(/\d+/.exec(line)?.[0]))).toEqual(lines.map((_, index) => index + 1));
  expect(lines.length).toBeGreaterThan(15);
  expect(failed, app.output).toEqual(host === 'electron' ? [] : NEEDS_ELECTRON);
  expect(code).toBe(host === 'electron' ? 0 : 1);
  expect(lines.at(-1)).toMatch(/^ok .*The example is computed, and answers a query/);
  for (const line of lines) expect(await shellLog(places)).toContain(line);
});
