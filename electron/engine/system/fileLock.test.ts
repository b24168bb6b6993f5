import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { AppFailure } from '../../contract/errors.ts';
import { acquireRunLock, runLockHolder } from '../store/runFolder.ts';
import { acquireFileLock, type LockHolder } from './fileLock.ts';
import { isProcessAlive, processStart } from './liveProcess.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
const CHILD = fileURLToPath(new URL('./testing/lockingChild.ts', import.meta.url));

interface LockingChild {
  process: ChildProcessByStdio<Writable, Readable, null>;
  /** `held`, or the error code of the refusal. */
  answer: Promise<string>;
  ended: Promise<void>;
}

function startChild(folder: string): LockingChild {
  const child = spawn(process.execPath, [CHILD, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  return {
    process: child,
    answer: new Promise((resolve) =>
      child.stdout.once('data', (data: Buffer) => resolve(String(data).trim())),
    ),
    ended: new Promise((resolve) => child.once('exit', () => resolve())),
  };
}

/** Generous, for a busy machine. */
const PATIENCE = { timeout: 120_000, interval: 10 };

/** Writes the lock that another process would have left, last renewed this many seconds ago. */
function leaveLock(folder: string, holder: Partial<LockHolder>, ageSeconds: number): void {
  const path = join(folder, 'run.lock');
  const whole = {
    host: hostname(),
    pid: process.pid,
    startTime: null,
    token: 'another',
    heartbeat: '',
    ...holder,
  };
  writeFileSync(path, JSON.stringify(whole));
  const then = Date.now() / 1000 - ageSeconds;
  utimesSync(path, then, then);
}

async function refusal(folder: string): Promise<string> {
  try {
    (await acquireRunLock(folder)).release();
    return 'taken';
  } catch (error) {
    return error instanceof AppFailure ? `${error.error.code}: ${error.error.cause}` : String(error);
  }
}

describe('the lock of a run', () => {
  it('keeps a second holder out, in this process and in another, until it is released', async () => {
    const folder = temporaryFolder();
    const lock = await acquireRunLock(folder);
    expect(runLockHolder(folder)).toMatchObject({ pid: process.pid, host: hostname() });
    expect(await refusal(folder)).toBe(
      `run_locked: ${folder} is being worked on by process ${process.pid} on this computer.`,
    );
    const child = startChild(folder);
    expect(await child.answer).toBe('run_locked');
    await child.ended;
    lock.release();
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
    expect(runLockHolder(folder)).toBeNull();
    expect(await refusal(folder)).toBe('taken');
  });

  it('is taken over from a process only once that process was killed', async () => {
    const folder = temporaryFolder();
    const child = startChild(folder);
    expect(await child.answer).toBe('held');
    expect(await refusal(folder)).toContain(`process ${child.process.pid}`);
    child.process.kill('SIGKILL');
    await child.ended;
    expect(existsSync(join(folder, 'run.lock'))).toBe(true);
    expect(await refusal(folder)).toBe('taken');
  });

  it('goes to exactly one of many processes that find a dead holder at once', async () => {
    const folder = temporaryFolder();
    leaveLock(folder, { pid: 2 ** 22 + 1 }, 5);
    const children = Array.from({ length: 5 }, () => startChild(folder));
    const answers = await Promise.all(children.map(({ answer }) => answer));
    expect(answers.sort()).toEqual(['held', ...Array<string>(4).fill('run_locked')]);
    for (const child of children) child.process.stdin.end();
    await Promise.all(children.map(({ ended }) => ended));
    expect(readdirSync(folder)).toEqual(['run.lock']);
  });

  it.runIf(process.platform === 'linux')(
    'does not count as held when its process number was reused',
    async () => {
      const folder = temporaryFolder();
      leaveLock(folder, { startTime: 'an earlier boot 123' }, 0);
      expect(await refusal(folder)).toBe('taken');
    },
  );

  it('of another computer counts as held for 60 seconds after its last heartbeat', async () => {
    const folder = temporaryFolder();
    leaveLock(folder, { host: 'node-7' }, 50);
    expect(await refusal(folder)).toBe(
      `run_locked: ${folder} is being worked on by process ${process.pid} on node-7.`,
    );
    leaveLock(folder, { host: 'node-7' }, 70);
    expect(runLockHolder(folder)).toBeNull();
    expect(await refusal(folder)).toBe('taken');
  });

  it('that was never completely written counts as dead after a while', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'run.lock'), '{"host":');
    const then = Date.now() / 1000 - 30;
    utimesSync(join(folder, 'run.lock'), then, then);
    expect(await refusal(folder)).toBe('taken');
  });

  it('renews its heartbeat, and reports when somebody else has taken it', async () => {
    const folder = temporaryFolder();
    let lost = 0;
    const lock = await acquireFileLock(join(folder, 'run.lock'), {
      onHeld: () => expect.unreachable(),
      heartbeatMs: 20,
      onLost: () => lost++,
    });
    const before = readFileSync(join(folder, 'run.lock'), 'utf8');
    await vi.waitFor(() => expect(readFileSync(join(folder, 'run.lock'), 'utf8')).not.toBe(before), PATIENCE);
    expect(lost).toBe(0);
    leaveLock(folder, { host: 'node-7' }, 0);
    await vi.waitFor(() => expect(lost).toBe(1), PATIENCE);
    lock.release();
    expect(runLockHolder(folder)).toMatchObject({ host: 'node-7' });
  });

  // Only these systems keep the number of a process that has ended.
  it.skipIf(process.platform === 'win32')(
    'is not held by a process that ended and was not reaped',
    async () => {
      const folder = temporaryFolder();
      // By the time the child ends, the shell has become `sleep 60`, which never reaps its child.
      const parent = spawn('/bin/sh', ['-c', 'sleep 2 & echo $!; exec sleep 60'], { stdio: 'pipe' });
      try {
        const pid = await new Promise<number>((resolve) =>
          parent.stdout.once('data', (data: Buffer) => resolve(Number(String(data)))),
        );
        await vi.waitFor(() => {
          expect(isProcessAlive(pid)).toBe(false);
          // The process number is still in use.
          process.kill(pid, 0);
        }, PATIENCE);
        leaveLock(folder, { pid, startTime: processStart(pid) }, 0);
        expect(await refusal(folder)).toBe('taken');
      } finally {
        parent.kill();
      }
    },
  );

  it('cannot be acquired in a missing folder', async () => {
    expect(await refusal('/nowhere/at/all')).toContain('folder_gone');
  });
});

describe('a lock that is waited for', () => {
  it('is acquired as soon as its holder releases it', async () => {
    const path = join(temporaryFolder(), 'python.lock');
    const first = await acquireFileLock(path, { onHeld: () => expect.unreachable() });
    expect(first.waited).toBe(false);
    const holders: LockHolder[] = [];
    const second = acquireFileLock(path, { onHeld: (holder) => holders.push(holder), retryMs: 5 });
    await vi.waitFor(() => expect(holders.length).toBeGreaterThan(1), PATIENCE);
    expect(holders[0]).toMatchObject({ pid: process.pid, host: hostname() });
    first.release();
    const lock = await second;
    expect(lock.waited).toBe(true);
    lock.release();
    expect(existsSync(path)).toBe(false);
  });

  it('is abandoned when the wait is aborted', async () => {
    const path = join(temporaryFolder(), 'python.lock');
    const first = await acquireFileLock(path, { onHeld: () => expect.unreachable() });
    const abort = new AbortController();
    const second = acquireFileLock(path, { onHeld: () => abort.abort(), signal: abort.signal });
    await expect(second).rejects.toThrow('aborted');
    first.release();
  });
});
