import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../testing/testContext.ts';
import { computeAll, preparedRun } from './testing/storeFixture.ts';
import { recordOf } from './testing/syntheticRun.ts';
/** Far longer than any wait in these tests. */
const HANGS_MS = 120_000;

it(
  'counts a thread until it has ended, and gives up on one that is stuck in SQLite',
  async () => {
    const script = join(import.meta.dirname, 'testing', 'stuckChild.ts');
    const child = spawn(process.execPath, [script, temporaryFolder()], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
    });
    expect(JSON.parse((await text(child.stdout)) || '"it hangs"')).toEqual([
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
  },
  HANGS_MS,
);

it(
  'terminates no thread that waits for DuckDB, which would end the process',
  async () => {
    const run = await preparedRun([[recordOf('a', [63, 5])], [recordOf('b', [9])]]);
    await computeAll(run);
    const { files } = await run.store.writeTables();
    await run.store.saveResultFiles(files);
    await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
    await run.store.close();
    const script = join(import.meta.dirname, 'testing', 'closingChild.ts');
    const child = spawn(process.execPath, [script, run.folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
    });
    expect(await text(child.stdout)).toBe('closed 12 times, also while questions were open');
  },
  HANGS_MS,
);
