import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat, readdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { appError, type AppError, asAppError, err, ok, type Result, appFailure } from '../contract/errors.ts';
import { replaceFile, isInside, freeBytes, safeName } from '../engine/index.ts';

/** Space that stays free for everything else on the disk. */
const DISK_RESERVE_BYTES = 200_000_000;
/** A slow connection may take hours; one without any data is given up. */
const SILENT_MS = 2 * 60_000;
const LONGEST_NAME_BYTES = 200;
const UNNAMED = 'upload.fasta';

/**
 * This many of the folders that a dropped file came from are kept: they distinguish files with the same name.
 */
const MOST_FOLDERS = 4;

/**
 * Streams a dropped file straight to the disk and returns its path. Each file gets its own folder, so that
 * names stay unchanged.
 * `name` may begin with folders.
 */
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
  const parts = name.split('/').filter((part) => !['', '.', '..'].includes(part));
  const path = join(
    place,
    ...parts.slice(-MOST_FOLDERS - 1, -1).map(uploadName),
    uploadName(parts.at(-1) ?? ''),
  );
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await pipeline(request, atMost(announced, name, request), createWriteStream(partial, { flags: 'wx' }));
    replaceFile(partial, path);
    return ok(path);
  } catch (reason) {
    await rm(place, { recursive: true, force: true });
    return err(uploadError(name, reason));
  }
}

/** Passes on the body of a request, but no more than it announced, since space was checked only for that. */
function atMost(bytes: number, name: string, request: IncomingMessage) {
  request.setTimeout(SILENT_MS, () => request.destroy());
  return async function* (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    let left = bytes;
    for await (const piece of body) {
      left -= piece.length;
      if (left < 0) {
        throw appFailure('input_unreadable', `More of ${name} arrived than was announced.`, {
          nextStep: 'Send it again.',
        });
      }
      yield piece;
    }
  };
}

/** Why the folder has no room for this many more bytes; undefined if it has. */
async function lacksSpace(folder: string, name: string, bytes: number): Promise<AppError | undefined> {
  const free = await freeBytes(folder);
  if (free === null || bytes <= free - DISK_RESERVE_BYTES) return undefined;
  return appError('disk_full', `${name} does not fit on the disk of the engine's computer.`);
}

/**
 * The file's name without characters that are special to a file system, and no longer than the file system
 * allows.
 */
export function uploadName(name: string): string {
  let short = safeName(name);
  // The end is kept because it shows the format: .fasta.gz
  while (Buffer.byteLength(short) > LONGEST_NAME_BYTES) short = short.replace(/^./su, '');
  return short || UNNAMED;
}

function uploadError(name: string, reason: unknown): AppError {
  const code = reason instanceof Error ? (reason as NodeJS.ErrnoException).code : undefined;
  if (code === 'ENOSPC') return appError('disk_full', `The disk was full before ${name} had arrived.`);
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return appError('input_unreadable', `${name} did not arrive completely.`, { nextStep: 'Send it again.' });
  }
  return asAppError(reason);
}

const KEPT_MS = 24 * 60 * 60_000;

/**
 * Deletes what earlier servers left in our folder: entries older than a day that contain none of the paths
 * still needed. Newer entries may belong to a running server, or to a form that is just being filled in.
 */
export async function removeLeftovers(folder: string, needed: readonly string[]): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (!info || Date.now() - info.mtimeMs < KEPT_MS) continue;
    if (needed.some((one) => isInside(path, one))) continue;
    await rm(path, { recursive: true, force: true });
  }
}
