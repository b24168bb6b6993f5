/**
 * Transfers files between this computer and another one. In both directions a transfer
 * continues where the connection broke, and its SHA-256 is compared at the end.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { AppFailure, appFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { Transfer } from '../../contract/rpc/computers.ts';
import { hashFile } from '../system/hashFile.ts';
import { replaceFile } from '../system/replaceFile.ts';
import { safeName } from '../system/pathLength.ts';
import { MARK, script } from './sshClient.ts';
import { mayPass } from './sshFailure.ts';
import { ask, type ComputerConnection } from './tunnel.ts';

const REPORT_EVERY_MS = 200;
const RETRY_AFTER_MS = 500;
const BLOCK = 2 ** 18;

/** Returns the connection to the other computer, and waits until there is one. */
type Connected = (signal?: AbortSignal) => Promise<ComputerConnection>;
type ReportTransfer = (transfer: Transfer) => void;

/** Sends a file over SSH; returns its path on the other computer. */
export async function sendFile(
  path: string,
  connected: Connected,
  report: ReportTransfer,
  signal: AbortSignal,
): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  // If the same file is sent again after any interruption, the transfer continues where it stopped.
  const key = createHash('sha256').update(`${path}\0${size}\0${mtimeMs}`).digest('hex');
  const name = safeName(basename(path));
  const progress = new Progress(report, size);
  return untilDone(connected, signal, progress, async ({ ssh, tunnel: { server } }) => {
    const there = `${server.uploads}/${key}/${name}`;
    const say = (...steps: string[]): string =>
      script(`F="$(${octal(there)})"`, 'mkdir -p "${F%/*}" && cd "${F%/*}" || exit 1', ...steps);
    const looked = say(
      `[ -e "$F" ] && echo ${MARK}arrived`,
      `touch part`,
      `echo "${MARK}part=$(wc -c < part)"`,
    );
    const found = await ssh.run(looked, undefined, signal);
    if (found.includes(`${MARK}arrived`)) return there;
    const start = Number(new RegExp(`^${MARK}part=(\\d+)`, 'm').exec(found)?.[1]);
    // What an earlier connection, or another window, is still writing is waited for, and looked at again.
    const append = `exec 9> lock; flock 9; [ "$(wc -c < part)" = ${start} ] || exit 0; exec cat >> part`;
    await ssh.run(say(append), progress.restOf(path, start), signal);
    const now = await stat(path);
    if (now.size !== size || now.mtimeMs !== mtimeMs) throw failed('transfer.changed', path);
    const sha256 = await hashFile(path, undefined, signal);
    const ended = await ssh.run(
      say(
        `[ "$(wc -c < part)" -ge ${size} ] || { echo ${MARK}again; exit 0; }`,
        `[ "$(sha256sum < part | cut -c 1-64)" = ${sha256} ] || { rm part; exit 0; }`,
        `mv part "$F" && echo ${MARK}arrived`,
      ),
    );
    if (ended.includes(`${MARK}again`)) return null;
    if (!ended.includes(`${MARK}arrived`)) throw failed('transfer.damaged', path);
    return there;
  });
}

/** A command that prints a path, which may have any characters, without those that shells read differently. */
function octal(path: string): string {
  const bytes = Array.from(Buffer.from(path), (byte) => `\\0${byte.toString(8).padStart(3, '0')}`);
  return `printf %b "${bytes.join('')}"`;
}

/**
 * Fetches a file that the other computer offers at an address: the complete file arrives at `path`, or
 * nothing.
 */
export async function fetchFile(
  address: string,
  path: string,
  connected: Connected,
  report: ReportTransfer,
  signal: AbortSignal,
): Promise<string> {
  const partial = `${path}.part`;
  await rm(partial, { force: true });
  const progress = new Progress(report, 0);
  try {
    return await untilDone(connected, signal, progress, async ({ tunnel }) => {
      const start = (await stat(partial).catch(() => undefined))?.size ?? 0;
      const headers = start > 0 ? { range: `bytes=${start}-` } : {};
      const answer = await ask(tunnel, address, { headers, signal });
      if (answer.statusCode === 404) throw failed('transfer.gone', path);
      // The connection may have broken after the last byte.
      const isWhole = start > 0 && answer.statusCode === 416;
      if (isWhole) answer.resume();
      else if (answer.statusCode !== (start > 0 ? 206 : 200)) throw new Error('An unexpected answer');
      else {
        progress.total = start + Number(answer.headers['content-length'] ?? 0);
        const file = createWriteStream(partial, start === 0 ? { flags: 'w' } : { flags: 'r+', start });
        await pipeline(answer, progress.counting(start), file, { signal });
        if ((await stat(partial)).size < progress.total) return null;
      }
      const digest = await ask(tunnel, `${address}?digest`, { signal });
      const there = parseJson(z.object({ sha256: z.string() }), await text(digest));
      if (there?.sha256 !== (await hashFile(partial, undefined, signal)))
        throw failed('transfer.damaged', path);
      replaceFile(partial, path);
      return path;
    });
  } finally {
    await rm(partial, { force: true });
  }
}

/** Repeats a step until it returns a value; if the connection breaks, waits for the next one. */
async function untilDone(
  connected: Connected,
  signal: AbortSignal,
  progress: Progress,
  step: (connection: ComputerConnection) => Promise<string | null>,
): Promise<string> {
  for (;;) {
    const connection = await connected(signal);
    try {
      const done = await step(connection);
      if (done !== null) {
        progress.report({ path: done });
        return done;
      }
    } catch (reason) {
      signal.throwIfAborted();
      if (reason instanceof AppFailure ? !mayPass(reason.error) : isDiskError(reason)) throw reason;
    }
    // The interruption may be noticed here before ssh notices it.
    progress.report({ waiting: true });
    await sleep(RETRY_AFTER_MS, undefined, { signal });
  }
}

/** Reports a few times a second. */
export class Progress {
  total: number;
  private readonly tell: ReportTransfer;
  private doneBytes = 0;
  private reportedAt = Number.NEGATIVE_INFINITY;

  constructor(tell: ReportTransfer, total: number) {
    this.tell = tell;
    this.total = total;
  }

  report({ waiting = false, path = null }: Partial<Transfer> = {}): void {
    this.reportedAt = performance.now();
    const doneBytes = path === null ? this.doneBytes : this.total;
    this.tell({ doneBytes, totalBytes: this.total, waiting, path });
  }

  /** A file from `start` to its end, counted. */
  restOf(path: string, start: number): Transform {
    const source = createReadStream(path, { start, highWaterMark: BLOCK });
    const counted = this.counting(start);
    source.on('error', (reason) => counted.destroy(reason));
    return source.pipe(counted);
  }

  /** A stream that counts what passes through it. */
  counting(start: number): Transform {
    this.doneBytes = start;
    return new Transform({
      highWaterMark: BLOCK,
      transform: (chunk: Buffer, _, done) => {
        this.doneBytes += chunk.length;
        if (performance.now() - this.reportedAt >= REPORT_EVERY_MS) this.report();
        done(null, chunk);
      },
    });
  }
}

function failed(key: 'transfer.changed' | 'transfer.gone' | 'transfer.damaged', path: string): AppFailure {
  return appFailure('transfer_failed', message(key, { file: basename(path) }));
}

/** An error of this computer's disk, and not of the connection, whose end is a file as well. */
function isDiskError(reason: unknown): boolean {
  if (!(reason instanceof Error && 'code' in reason && 'syscall' in reason)) return false;
  const codes = ['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EISDIR'];
  return reason.syscall !== 'connect' && codes.includes(String(reason.code));
}
