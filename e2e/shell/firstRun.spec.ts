/** The program's own check of the computer, in Electron and in the stand-in. */
import { expect, shellLog, test } from './support/fixtures.ts';

test('the self-check prints a line a point, and finds nothing amiss', async ({ start, places }) => {
  const app = await start({ args: ['--self-check'] });
  expect(await app.ended(), app.output).toBe(0);
  const lines = app.output.split('\n').filter((line) => /^(ok|FAIL) +\d+ /.test(line));
  expect(lines).toHaveLength(4);
  expect(lines.at(-1)).toMatch(/^ok .*The example is computed, and answers a query/);
  for (const line of lines) expect(await shellLog(places)).toContain(line);
});
