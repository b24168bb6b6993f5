import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashFile } from './hashFile.ts';
import { answerOf } from './regularFile.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
describe.skipIf(process.platform === 'win32')('a file that is not a regular one', () => {
  it.each(['a pipe', '/dev/zero', 'a folder'])('is refused instead of read without end: %s', async (kind) => {
    let path = kind === 'a folder' ? temporaryFolder() : kind;
    if (kind === 'a pipe') {
      path = join(temporaryFolder(), 'pipe');
      execFileSync('mkfifo', [path]);
    }
    await expect(hashFile(path)).rejects.toMatchObject({ error: { code: 'input_unreadable' } });
  });

  it('keeps threads free for other files, however it was opened', () => {
    const pipe = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const script = `
      import ${JSON.stringify(new URL('../index.ts', import.meta.url).href)};
      import { open, stat } from 'node:fs/promises';
      for (let i = 0; i < 8; i++) open(${JSON.stringify(pipe)}).catch(() => undefined);
      await stat('/');
      process.kill(process.pid, 'SIGKILL');`;
    const env = { ...process.env, UV_THREADPOOL_SIZE: undefined };
    const end = (): void =>
      void execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        env,
        timeout: 60_000,
        stdio: 'ignore',
        killSignal: 'SIGTERM',
      });
    // The child exits by itself; if it is blocked, the test has to kill it.
    expect(end).toThrow(expect.objectContaining({ signal: 'SIGKILL' }));
  });
});

describe('a disk that does not respond', () => {
  const never = new Promise<never>(() => undefined);

  it('is given up after a silence', async () => {
    await expect(answerOf(never, '/far/away', { silentMs: 1 })).rejects.toMatchObject({
      error: { code: 'input_unreadable' },
    });
  });

  it('is no longer waited for once the caller has aborted', async () => {
    const impatience = new AbortController();
    const asked = answerOf(never, '/far/away', { signal: impatience.signal });
    impatience.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });
});
