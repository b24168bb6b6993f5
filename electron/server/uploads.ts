import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { appError, AppFailure, asAppError, type AppError } from '../contract/errors.ts';
import { err, ok, type Result } from '../contract/result.ts';
import { freeBytes, replaceFile, safeName } from '../engine/index.ts';

/** Left over for everything else on the disk. */
const DISK_RESERVE_BYTES = 200_000_000;
/** A line that is slow goes on for hours; one on which nothing comes any more is given up. */
const SILENT_MS = 2 * 60_000;
const LONGEST_NAME_BYTES = 200;
const UNNAMED = 'upload.fasta';

/** Streams a dropped file straight to the disk; answers with its path. Each in a folder of its own, so that names stay as they are. */
export async function receiveUpload(
  folder: string,
  name: string,
  request: IncomingMessage,
): Promise<Result<string>> {
  const announced = Number(request.headers['content-length'] ?? 0);
  const full = await lacksSpace(folder, name, announced);
  if (full) return err(full);
  const place = join(folder, randomUUID());
  const partial = join(place, 'incoming.part');
  const path = join(place, uploadName(name));
  try {
    await mkdir(place, { recursive: true, mode: 0o700 });
    await pipeline(request, atMost(announced, name, request), createWriteStream(partial, { flags: 'wx' }));
    replaceFile(partial, path);
    return ok(path);
  } catch (reason) {
    await rm(place, { recursive: true, force: true });
    return err(uploadError(name, reason));
  }
}

/** Passes on what a request brings, but no more than it announced: only for that much there is room. */
export function atMost(bytes: number, name: string, request: IncomingMessage) {
  request.setTimeout(SILENT_MS, () => request.destroy());
  return async function* (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    let left = bytes;
    for await (const piece of body) {
      left -= piece.length;
      if (left < 0) {
        throw new AppFailure(
          appError('input_unreadable', `More of ${name} arrived than was announced.`, {
            nextStep: 'Send it again.',
          }),
        );
      }
      yield piece;
    }
  };
}

/** Why the folder has no room for that many more bytes; undefined if it has. */
export async function lacksSpace(folder: string, name: string, bytes: number): Promise<AppError | undefined> {
  const free = await freeBytes(folder);
  if (free === null || bytes <= free - DISK_RESERVE_BYTES) return undefined;
  return appError('disk_full', `${name} does not fit on the disk of the engine's computer.`);
}

/** The file's name without anything that means something to a file system, and no longer than one takes. */
export function uploadName(name: string): string {
  let short = safeName(name);
  // The end shows the format: .fasta.gz
  while (Buffer.byteLength(short) > LONGEST_NAME_BYTES) short = short.replace(/^./su, '');
  return short || UNNAMED;
}

export function uploadError(name: string, reason: unknown): AppError {
  const code = reason instanceof Error ? (reason as NodeJS.ErrnoException).code : undefined;
  if (code === 'ENOSPC') return appError('disk_full', `The disk was full before ${name} had arrived.`);
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return appError('input_unreadable', `${name} did not arrive completely.`, { nextStep: 'Send it again.' });
  }
  return asAppError(reason);
}
