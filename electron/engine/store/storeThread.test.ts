import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../testing/testContext.ts';

/** Far more than all that is waited for in it. */
const HANGS_MS = 120_000;

it(
  'counts a thread until it has ended, and gives up on one that SQLite does not come back to',
  async () => {
    const script = join(import.meta.dirname, 'testing', 'stuckChild.ts');
    const child = spawn(process.execPath, [script, await temporaryFolder()], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: HANGS_MS,
      killSignal: 'SIGKILL',
    });
    expect(JSON.parse((await text(child.stdout)) || '"it hangs"')).toEqual([
      // One that is refused has ended.
      'folder_not_a_run',
      0,
      // One that was stopped in the middle of a call.
      'internal',
      1,
      // One that was opening its database when the program was closed.
      'usage',
      2,
      // None starts after it.
      'usage',
      2,
    ]);
  },
  HANGS_MS,
);
