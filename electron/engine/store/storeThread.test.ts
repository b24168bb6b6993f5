import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../testing/testContext.ts';
import { computeAll, finish, preparedRun } from './testing/storeFixture.ts';
import { recordOf } from './testing/syntheticRun.ts';

/** Far longer than any wait in these tests. */
const HANGS_MS = 120_000;

/** What a script prints about a folder in a process of its own. */
async function printed(script: string, folder: string): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'testing', script), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: HANGS_MS,
    killSignal: 'SIGKILL',
  });
  return text(child.stdout);
}

it('counts a thread until it has ended, and gives up on one that is stuck in SQLite', async () => {
  expect(JSON.parse((await printed('stuckChild.ts', temporaryFolder())) || '"it hangs"')).toEqual([
    // A refused thread has ended.
    'folder_not_a_run',
    0,
    // This thread was stopped in the middle of a call.
    'internal',
    1,
    // This thread was opening its database when the program was closed.
    'usage',
    2,
    // No thread starts after that.
    'usage',
    2,
  ]);
});

it('terminates no thread that waits for DuckDB, which would end the process', async () => {
  const run = await preparedRun([[recordOf('a', [63, 5])], [recordOf('b', [9])]]);
  await computeAll(run);
  await finish(run);
  await run.store.close();
  const said = await printed('closingChild.ts', run.folder);
  expect(said).toBe('closed 12 times, also while questions were open');
});
