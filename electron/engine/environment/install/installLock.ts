/** Lets one process at a time install into an environment; the others wait for it. */
import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const BEAT_MS = 2_000;
/** A lock without a beat for so long belongs to a process that is gone. */
const DEAD_AFTER_MS = 20_000;
const RETRY_MS = 500;

export interface InstallLock {
  /** Whether another process held it before. */
  readonly waited: boolean;
  release(): Promise<void>;
}

/** `onWait` is called about once a second with the seconds waited. Throws where the folder can't be written. */
export async function acquireInstallLock(
  path: string,
  onWait: (seconds: number) => void,
  signal?: AbortSignal,
): Promise<InstallLock> {
  await mkdir(dirname(path), { recursive: true });
  const started = Date.now();
  let waited = false;
  while (!(await take(path))) {
    waited = true;
    if (await isDead(path)) {
      await rm(path, { force: true });
      continue;
    }
    onWait(Math.round((Date.now() - started) / 1000));
    await sleep(RETRY_MS, undefined, signal ? { signal } : {});
  }
  const beat = setInterval(() => {
    const now = new Date();
    // A beat that fails, such as on a full disk, is followed by the next.
    utimes(path, now, now).catch(() => undefined);
  }, BEAT_MS);
  beat.unref();
  return {
    waited,
    release: async () => {
      clearInterval(beat);
      await rm(path, { force: true });
    },
  };
}

async function take(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(String(process.pid));
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isDead(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) return true;
  const quiet = Date.now() - info.mtimeMs;
  if (quiet > DEAD_AFTER_MS) return true;
  // The file is there a moment before its content; without one, only its age counts.
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  return pid > 0 && !isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
