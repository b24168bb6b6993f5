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
import { appError, AppFailure, appErrorSchema } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { Transfer } from '../../contract/rpc/computers.ts';
import { hashFile } from '../files/hashFile.ts';
import { replaceFile } from '../files/replaceFile.ts';
import { ask, textOf, type Tunnel } from './tunnel.ts';

const REPORT_EVERY_MS = 200;
const RETRY_AFTER_MS = 500;

/** Returns the tunnel to the other computer, and waits until there is one. */
export type Connected = (signal?: AbortSignal) => Promise<Tunnel>;
export type ReportTransfer = (transfer: Transfer) => void;

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
  const name = basename(path);
  // If the same file is sent again after any interruption, the transfer continues where it stopped.
  const key = createHash('sha256').update(`${path}\0${size}\0${mtimeMs}`).digest('hex');
  const address = `/sending/${key}/${encodeURIComponent(name)}?bytes=${size}`;
  const progress = progressOf(size, report);
  for (;;) {
    const tunnel = await connected(signal);
    try {
      let state = await stateOf(await ask(tunnel, { path: address, signal }));
      if (state.path === null && state.received < size) {
        progress.now(state.received);
        const source = createReadStream(path, { start: state.received, highWaterMark: 2 ** 18 });
        const body = counting(state.received, progress.now);
        source.on('error', (reason) => body.destroy(reason));
        const answer = await ask(
          tunnel,
          {
            method: 'PATCH',
            path: `${address}&offset=${state.received}`,
            headers: { 'content-length': size - state.received },
            signal,
          },
          source.pipe(body),
        );
        state = await stateOf(answer);
      }
      if (state.path === null && state.received === size) {
        const now = await stat(path);
        if (now.size !== size || now.mtimeMs !== mtimeMs) {
          throw failed('transfer.changed', name);
        }
        const sha256 = await hashFile(path, undefined, signal);
        const finished = await ask(tunnel, { method: 'POST', path: `${address}&sha256=${sha256}`, signal });
        state = await stateOf(finished);
      }
      if (state.path !== null) return state.path;
    } catch (reason) {
      signal.throwIfAborted();
      if (reason instanceof AppFailure) throw reason;
    }
    // The interruption may be noticed here before ssh notices it.
    progress.waits();
    await sleep(RETRY_AFTER_MS, undefined, { signal });
  }
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
): Promise<void> {
  const partial = `${path}.part`;
  const name = basename(path);
  let arrived = 0;
  let progress: ReturnType<typeof progressOf> | undefined;
  try {
    for (;;) {
      const tunnel = await connected(signal);
      try {
        const answer = await ask(tunnel, {
          path: address,
          headers: arrived > 0 ? { range: `bytes=${arrived}-` } : {},
          signal,
        });
        if (answer.statusCode === 404) throw failed('transfer.gone', name);
        if (answer.statusCode !== (arrived > 0 ? 206 : 200)) throw new Error('An unexpected answer');
        const total = arrived + Number(answer.headers['content-length'] ?? 0);
        const { now } = (progress ??= progressOf(total, report));
        const start = arrived;
        await pipeline(
          answer,
          counting(start, (bytes) => {
            arrived = bytes;
            now(bytes);
          }),
          createWriteStream(partial, start === 0 ? { flags: 'w' } : { flags: 'r+', start }),
          { signal },
        );
        if (arrived < total) throw new Error('It ended early');
        const digest = await ask(tunnel, { path: `${address}?digest`, signal });
        const there = parseJson(z.object({ sha256: z.string() }), await textOf(digest));
        if (there?.sha256 !== (await hashFile(partial, undefined, signal))) {
          throw failed('transfer.damaged', name);
        }
        replaceFile(partial, path);
        return;
      } catch (reason) {
        signal.throwIfAborted();
        if (reason instanceof AppFailure) throw reason;
        // An error of this computer's disk, not of the connection.
        if (isDiskError(reason)) throw reason;
        arrived = (await stat(partial).catch(() => undefined))?.size ?? 0;
      }
      progress?.waits();
      await sleep(RETRY_AFTER_MS, undefined, { signal });
    }
  } finally {
    await rm(partial, { force: true });
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

function counting(start: number, now: (bytes: number) => void): Transform {
  let bytes = start;
  return new Transform({
    highWaterMark: 2 ** 18,
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      now(bytes);
      done(null, chunk);
    },
  });
}

/** Reports a few times a second. */
function progressOf(totalBytes: number, report: ReportTransfer) {
  let reportedAt = Number.NEGATIVE_INFINITY;
  let doneBytes = 0;
  const say = (waiting: boolean): void => {
    reportedAt = performance.now();
    report({ doneBytes, totalBytes, waiting, path: null });
  };
  return {
    now: (bytes: number): void => {
      doneBytes = bytes;
      if (performance.now() - reportedAt >= REPORT_EVERY_MS) say(false);
    },
    waits: (): void => {
      say(true);
    },
  };
}

function failed(key: 'transfer.changed' | 'transfer.gone' | 'transfer.damaged', file: string): AppFailure {
  return new AppFailure(appError('transfer_failed', message(key, { file })));
}

function isDiskError(reason: unknown): boolean {
  const code = reason instanceof Error && 'code' in reason ? String(reason.code) : '';
  return ['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EISDIR'].includes(code);
}
