/**
 * Transfers files between this computer and another one. In both directions a transfer
 * continues where the connection broke, and its SHA-256 is compared at the end.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppFailure, appFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { Transfer } from '../../../contract/rpc/computers.ts';
import { hashFile } from '../../system/hashFile.ts';
import { replaceFile } from '../../system/replaceFile.ts';
import { safeName } from '../../system/pathLength.ts';
import type { KeptComputer } from './keptComputer.ts';
import { MARK, mayPass, script, valueIn } from './sshClient.ts';
import { ask, type ComputerConnection } from './tunnel.ts';

const REPORT_EVERY_MS = 200;
const RETRY_AFTER_MS = 500;

/** Files go from or to this computer; `report` is called a few times a second. */
export type TransferParts = [
  computer: Pick<KeptComputer, 'awaited'>,
  report: (transfer: Transfer) => void,
  signal: AbortSignal,
];

/** Sends a file over SSH; returns its path on the other computer. */
export async function sendFile(path: string, ...parts: TransferParts): Promise<string> {
  const [, , signal] = parts;
  const { size, mtimeMs } = await stat(path);
  // If the same file is sent again after any interruption, the transfer continues where it stopped.
  const key = createHash('sha256').update(`${path}\0${size}\0${mtimeMs}`).digest('hex');
  const name = safeName(basename(path));
  return untilDone(parts, async ({ ssh, tunnel: { server } }, passing) => {
    const there = `${server.uploads}/${key}/${name}`;
    // A path may have any characters, also those that shells read differently.
    const place = `F="$(echo ${Buffer.from(there).toString('base64')} | base64 -d)"`;
    const enter = [place, 'mkdir -p "${F%/*}" && cd "${F%/*}" || exit 1'];
    const run = (steps: string[], input?: Readable) => ssh.run(script(...enter, ...steps), input, signal);
    const look = [`[ -e "$F" ] && echo ${MARK}arrived`, 'touch part', `echo "${MARK}part=$(wc -c < part)"`];
    const found = await run(look);
    if (found.includes(`${MARK}arrived`)) return there;
    const start = Number(valueIn(found, 'part'));
    // What an earlier connection, or another window, is still writing is waited for, and looked at again.
    const append = `exec 9> lock; flock 9; [ "$(wc -c < part)" = ${start} ] || exit 0; exec cat >> part`;
    await run([append], Readable.from(passing(createReadStream(path, { start }), start, size)));
    const now = await stat(path);
    if (now.size !== size || now.mtimeMs !== mtimeMs) throw failed('transfer.changed', path);
    const sha256 = await hashFile(path, undefined, signal);
    const ended = await run([
      `[ "$(wc -c < part)" -ge ${size} ] || { echo ${MARK}again; exit 0; }`,
      `[ "$(sha256sum < part | cut -c 1-64)" = ${sha256} ] || { rm part; exit 0; }`,
      `mv part "$F" && echo ${MARK}arrived`,
    ]);
    if (ended.includes(`${MARK}again`)) return null;
    if (!ended.includes(`${MARK}arrived`)) throw failed('transfer.damaged', path);
    return there;
  });
}

/**
 * Fetches a file that the other computer offers at an address: the complete file arrives at `path`, or
 * nothing.
 */
export async function fetchFile(address: string, path: string, ...parts: TransferParts): Promise<string> {
  const [, , signal] = parts;
  const partial = `${path}.part`;
  await rm(partial, { force: true });
  try {
    return await untilDone(parts, async ({ tunnel }, passing) => {
      const start = (await stat(partial).catch(() => undefined))?.size ?? 0;
      const answer = await ask(tunnel, address, { range: `bytes=${start}-` }, signal);
      if (!answer.ok || !answer.body) throw failed('transfer.gone', path);
      const total = start + Number(answer.headers.get('content-length'));
      const file = createWriteStream(partial, { flags: 'a' });
      await pipeline(passing(answer.body, start, total), file, { signal });
      if ((await stat(partial)).size < total) return null;
      const digest = await ask(tunnel, `${address}?digest`, {}, signal);
      const there = (await digest.json()) as { sha256: string };
      if (there.sha256 !== (await hashFile(partial, undefined, signal)))
        throw failed('transfer.damaged', path);
      replaceFile(partial, path);
      return path;
    });
  } finally {
    await rm(partial, { force: true });
  }
}

/** Passes a stream on that begins at `start` of `total` bytes, and tells how much has passed. */
type Passing = (
  stream: AsyncIterable<Uint8Array>,
  start: number,
  total: number,
) => AsyncGenerator<Uint8Array>;

/** Repeats a step until it returns a path; if the connection breaks, waits for the next one. */
async function untilDone(
  [computer, report, signal]: TransferParts,
  step: (connection: ComputerConnection, passing: Passing) => Promise<string | null>,
): Promise<string> {
  let now: Transfer = { doneBytes: 0, totalBytes: 0, path: null };
  let reportedAt = Number.NEGATIVE_INFINITY;
  const passing: Passing = async function* (stream, start, totalBytes) {
    now = { ...now, doneBytes: start, totalBytes };
    for await (const block of stream) {
      yield block;
      now = { ...now, doneBytes: now.doneBytes + block.length };
      if (performance.now() - reportedAt < REPORT_EVERY_MS) continue;
      reportedAt = performance.now();
      report(now);
    }
  };
  for (;;) {
    const connection = computer.awaited;
    try {
      const path = connection ? await step(connection, passing) : null;
      if (path !== null) {
        report({ ...now, doneBytes: now.totalBytes, path });
        return path;
      }
    } catch (reason) {
      signal.throwIfAborted();
      // Requests over a broken tunnel fail with a TypeError.
      if (!(reason instanceof AppFailure ? mayPass(reason.error) : reason instanceof TypeError)) throw reason;
    }
    // The interruption may be noticed here before ssh notices it.
    await sleep(RETRY_AFTER_MS, undefined, { signal });
  }
}

function failed(key: 'transfer.changed' | 'transfer.gone' | 'transfer.damaged', path: string): AppFailure {
  return appFailure('transfer_failed', message(key, { file: basename(path) }));
}
