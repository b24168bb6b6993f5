import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { app } from 'electron';
import { shellLogFile } from '../../engine/index.ts';
import { appImageFile } from '../trouble/appImage.ts';
import { expectThat, SELF_CHECK_SWITCH, SET_UP_SWITCH, until, type Point } from './point.ts';

/** A copy of the program that starts again in safe mode as soon as it is open, and then ends. */
export const RESTART_ONCE_SWITCH = '--restart-once';

interface Copy {
  pid: number | undefined;
  ended: Promise<number | null>;
  kill: (signal: 'SIGTERM' | 'SIGKILL') => void;
}

function startCopy(args: readonly string[], env: Record<string, string> = {}): Copy {
  const own = process.argv.slice(1).filter((word) => word !== SELF_CHECK_SWITCH && word !== SET_UP_SWITCH);
  const program = appImageFile(process.env) ?? process.execPath;
  const copy = spawn(program, [...own, ...args], { env: { ...process.env, ...env }, stdio: 'ignore' });
  const ended = new Promise<number | null>((resolve, reject) => {
    copy.once('error', reject);
    copy.once('close', resolve);
  });
  ended.catch(() => undefined);
  return { pid: copy.pid, ended, kill: (signal) => void copy.kill(signal) };
}

/** Starts a copy with data of its own, which are deleted afterwards. */
async function withOwnData<Value>(
  args: readonly string[],
  use: (copy: Copy, dataDir: string, log: () => string) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'self check '));
  const dataDir = join(folder, 'data');
  const logFile = shellLogFile({ dataDir });
  const copy = startCopy(args, { VIRNUCPRO_DATA_DIR: dataDir });
  try {
    return await use(copy, dataDir, () => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''));
  } finally {
    copy.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What happens when the program is started several times. */
export const copyPoints: Point[] = [
  {
    what: 'A second start shows the first window and ends',
    check: async ({ window }) => {
      window.hide();
      const heard = new Promise((resolve) => app.once('second-instance', resolve));
      const code = await startCopy([]).ended;
      expectThat(code === 0, `it ended with ${code}`);
      await heard;
      await until(() => window.isVisible());
      return 'exit code 0';
    },
  },
  {
    what: 'The end of the session closes all databases',
    check: () => {
      if (process.platform === 'win32') return { skipped: 'Windows has no such signal' };
      return withOwnData([], async (copy, dataDir, log) => {
        await until(() => existsSync(join(dataDir, 'library.db')) && log().includes('Open.'));
        copy.kill('SIGTERM');
        const code = await copy.ended;
        expectThat(code === 0, `it ended with ${code}`);
        expectThat(!existsSync(join(dataDir, 'library.db-wal')), 'a database was left open');
        return 'exit code 0';
      });
    },
  },
  {
    what: 'The program starts again by itself, once, in safe mode',
    check: () =>
      withOwnData([RESTART_ONCE_SWITCH], async (copy, _, log) => {
        const code = await copy.ended;
        expectThat(code === 0, `it ended with ${code}`);
        await until(() => /safe mode[^]*End, exit code/.test(log()));
        const starts = log().match(/Start of/g)?.length;
        expectThat(starts === 2, `it started ${starts} times`);
        return 'yes';
      }),
  },
  {
    what: 'The packed program cannot be made to run as plain Node',
    check: async () => {
      if (!app.isPackaged) return { skipped: 'this is a checkout' };
      // As plain Node it would fail to find this script.
      const code = await startCopy(['/no/such/script.js'], { ELECTRON_RUN_AS_NODE: '1' }).ended;
      expectThat(code === 0, `it ended with ${code}`);
      return 'yes';
    },
  },
];
