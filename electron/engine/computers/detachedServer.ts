/**
 * The server that continues without a terminal: there is one for each user and computer, which holds a lock as
 * long as it runs, and is found by a file that only the user may read.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { appFailure, type AppFailure } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { acquireFileLock, fileLockHolder, type LockHolder } from '../system/fileLock.ts';
import { replaceFile } from '../system/replaceFile.ts';
import { isProcessAlive } from '../system/liveProcess.ts';

const STARTS_WITHIN_MS = 120_000;
const ENDS_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;
const LOG_TAIL = 2_000;

export const runningServerSchema = z.object({
  /** The port on the loopback interface. */
  port: z.int().min(1).max(65_535),
  pid: z.int().positive(),
  version: z.string(),
  hostName: z.string(),
  /** The folder for files that are sent to it. */
  uploads: z.string(),
  /** The folder of the program that it runs. */
  program: z.string(),
  /** Anyone who knows the cookie is admitted as the user. */
  cookie: z.string(),
});
export type RunningServer = z.infer<typeof runningServerSchema>;

export const startedSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('running'), server: runningServerSchema }),
  /** A server of another version, with an active run. */
  z.object({ outcome: z.literal('busy'), version: z.string() }),
]);
export type DetachedStart = z.infer<typeof startedSchema>;

interface DetachedServerOptions {
  /** Starts a server that writes the server file. */
  readonly command: readonly string[];
  readonly dataDir: string;
  /** The folder of this program, and therefore of the server to run. */
  readonly program: string;
}

/**
 * Returns the server of this user on this computer: the running one, or a new one that outlives the terminal
 * and the login. A server of another version is ended, unless one of its runs is active.
 */
export async function startDetached(options: DetachedServerOptions): Promise<DetachedStart> {
  const { dataDir, program } = options;
  const running = readServerFile(dataDir);
  if (running) {
    const reply = await about(running);
    if (reply && running.program === program) return { outcome: 'running', server: running };
    if (reply?.atWork === true) return { outcome: 'busy', version: running.version };
    await end(running);
  }
  return { outcome: 'running', server: await start(options) };
}

/**
 * Ends the server of this user on this computer, if there is one; returns false if one of its runs is active.
 */
export async function endDetached(dataDir: string): Promise<boolean> {
  const running = readServerFile(dataDir);
  if (!running) return true;
  if ((await about(running))?.atWork === true) return false;
  await end(running);
  return !isProcessAlive(running.pid);
}

/** Of several that are started at the same time, one continues. */
async function start({
  command: [file = '', ...args],
  dataDir,
  program,
}: DetachedServerOptions): Promise<RunningServer> {
  const logFile = join(dataDir, 'logs', 'server.log');
  mkdirSync(dirname(logFile), { recursive: true, mode: 0o700 });
  // Of two that start at the same time, neither may write over the other's lines.
  writeFileSync(logFile, '', { mode: 0o600 });
  const log = openSync(logFile, 'a');
  // The server runs in a session of its own, independent of the login: it does not end with the terminal or
  // the connection.
  const child = spawn(file, args, { detached: true, stdio: ['ignore', log, log], cwd: dataDir });
  closeSync(log);
  child.unref();
  const ended = new AbortController();
  for (const event of ['exit', 'error']) child.once(event, () => ended.abort());
  const deadline = performance.now() + STARTS_WITHIN_MS;
  while (performance.now() < deadline) {
    const server = readServerFile(dataDir);
    if (server?.program === program) {
      // Started at the same time, but later: it must not become a server once that one ends.
      if (server.pid !== child.pid) child.kill();
      return server;
    }
    if (ended.signal.aborted && !fileLockHolder(lockFile(dataDir))) break;
    await sleep(LOOK_EVERY_MS);
  }
  throw notStarted(readFileSync(logFile, 'utf8').trim().slice(-LOG_TAIL));
}

async function end({ pid }: RunningServer): Promise<void> {
  process.kill(pid, 'SIGTERM');
  const deadline = performance.now() + ENDS_WITHIN_MS;
  while (isProcessAlive(pid) && performance.now() < deadline) await sleep(LOOK_EVERY_MS);
}

/** Asks the server about itself; undefined if it does not answer. */
async function about({ port, cookie }: RunningServer): Promise<{ atWork: boolean } | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/about`, {
      headers: { cookie },
      signal: AbortSignal.timeout(10_000),
    });
    return parseJson(z.object({ atWork: z.boolean() }), await answer.text());
  } catch {
    return undefined;
  }
}

function notStarted(detail: string): AppFailure {
  return appFailure('server_not_started', 'The server did not start.', { detail });
}

/** The name contains the host because many computers may share a home folder, as in a cluster. */
function serverFile(dataDir: string): string {
  return join(dataDir, 'servers', `${hostname()}.json`);
}

const lockFile = (dataDir: string): string => `${serverFile(dataDir)}.lock`;

/** Makes this process the server, until the returned function is called. Rejects if another one is. */
export async function becomeServer(dataDir: string): Promise<() => void> {
  const onHeld = ({ pid }: LockHolder): never => {
    throw notStarted(`Process ${pid} is the server already.`);
  };
  mkdirSync(dirname(serverFile(dataDir)), { recursive: true, mode: 0o700 });
  const lock = await acquireFileLock(lockFile(dataDir), { onHeld });
  return () => {
    // Programs that such a file names are kept.
    rmSync(serverFile(dataDir), { force: true });
    lock.release();
  };
}

export function writeServerFile(dataDir: string, server: RunningServer): void {
  const file = serverFile(dataDir);
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(server), { mode: 0o600 });
  replaceFile(`${file}.${process.pid}`, file);
}

/** The server that runs on this computer; undefined if there is none. */
function readServerFile(dataDir: string): RunningServer | undefined {
  const pid = fileLockHolder(lockFile(dataDir))?.pid;
  try {
    const server = parseJson(runningServerSchema, readFileSync(serverFile(dataDir), 'utf8'));
    return server?.pid === pid ? server : undefined;
  } catch {
    return undefined;
  }
}
