/**
 * Transfers files between this computer and another one, over its tunnel. In both directions a transfer
 * continues where the connection broke, and its SHA-256 is compared at the end.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { basename } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { appErrorSchema, AppFailure, appFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { Transfer } from '../../contract/rpc/computers.ts';
import { hashFile } from '../system/hashFile.ts';
import { replaceFile } from '../system/replaceFile.ts';
import { ask, textOf, type Tunnel } from './tunnel.ts';

const REPORT_EVERY_MS = 200;
const RETRY_AFTER_MS = 500;
const BLOCK = 2 ** 18;

/** Returns the tunnel to the other computer, and waits until there is one. */
type Connected = (signal?: AbortSignal) => Promise<Tunnel>;
type ReportTransfer = (transfer: Transfer) => void;

const stateSchema = z.object({ received: z.int().nonnegative(), path: z.string().nullable() });
const refusedSchema = z.object({ error: appErrorSchema });

/** Sends a file; returns its path on the other computer. */
export async function sendFile(
  path: string,
  connected: Connected,
  report: ReportTransfer,
  signal: AbortSignal,
): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  // If the same file is sent again after any interruption, the transfer continues where it stopped.
  const key = createHash('sha256').update(`${path}\0${size}\0${mtimeMs}`).digest('hex');
  const address = `/sending/${key}/${encodeURIComponent(basename(path))}?bytes=${size}`;
  const progress = new Progress(report, size);
  return untilDone(connected, signal, progress, async (tunnel) => {
    let state = await stateOf(await ask(tunnel, { path: address, signal }));
    if (state.path === null && state.received < size) {
      const headers = { 'content-length': size - state.received };
      const to = { method: 'PATCH', path: `${address}&offset=${state.received}`, headers, signal };
      state = await stateOf(await ask(tunnel, to, progress.restOf(path, state.received)));
    }
    if (state.path === null && state.received === size) {
      const now = await stat(path);
      if (now.size !== size || now.mtimeMs !== mtimeMs) throw failed('transfer.changed', path);
      const sha256 = await hashFile(path, undefined, signal);
      const finished = await ask(tunnel, { method: 'POST', path: `${address}&sha256=${sha256}`, signal });
      state = await stateOf(finished);
    }
    return state.path;
  });
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
    return await untilDone(connected, signal, progress, async (tunnel) => {
      const start = (await stat(partial).catch(() => undefined))?.size ?? 0;
      const headers = start > 0 ? { range: `bytes=${start}-` } : {};
      const answer = await ask(tunnel, { path: address, headers, signal });
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
      const digest = await ask(tunnel, { path: `${address}?digest`, signal });
      const there = parseJson(z.object({ sha256: z.string() }), await textOf(digest));
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
  step: (tunnel: Tunnel) => Promise<string | null>,
): Promise<string> {
  for (;;) {
    const tunnel = await connected(signal);
    try {
      const done = await step(tunnel);
      if (done !== null) {
        progress.report({ path: done });
        return done;
      }
    } catch (reason) {
      signal.throwIfAborted();
      if (reason instanceof AppFailure || isDiskError(reason)) throw reason;
    }
    // The interruption may be noticed here before ssh notices it.
    progress.report({ waiting: true });
    await sleep(RETRY_AFTER_MS, undefined, { signal });
  }
}

async function stateOf(answer: IncomingMessage): Promise<z.infer<typeof stateSchema>> {
  const text = await textOf(answer);
  const state = parseJson(stateSchema, text);
  if (state) return state;
  const refused = parseJson(refusedSchema, text);
  if (refused) throw new AppFailure(refused.error);
  throw new Error(`An unexpected answer: ${answer.statusCode ?? 0}`);
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
