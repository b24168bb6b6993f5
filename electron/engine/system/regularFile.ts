import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { type AppFailure, appFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';

/*
 * Files that a user, a run or a model names may be on any disk, and may be pipes or devices. Opening a pipe
 * that has no writer never returns, nor does reading from a lost network disk, and each such call blocks one
 * of Node's few file threads.
 */

/**
 * Without an answer from a disk, or from a process that reads inputs, for this long, the disk counts as not
 * responding.
 */
export const READING_SILENT_MS = 600_000;

/** Windows has no such flag, and no pipes among its files. */
const { O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

export interface Patience {
  signal?: AbortSignal | undefined;
  silentMs?: number | undefined;
}

/**
 * Opens a file for reading. Rejects with AppFailure if it is a pipe, a device or a folder, and if its disk
 * does not respond.
 */
export function openRegular(path: string, patience: Patience = {}): Promise<FileHandle> {
  let abandoned = false;
  const opening = openIfRegular(path).then(async (file) => {
    if (abandoned) await file.close();
    return file;
  });
  return answerOf(opening, path, patience).catch((reason: unknown) => {
    abandoned = true;
    throw reason;
  });
}

async function openIfRegular(path: string): Promise<FileHandle> {
  // This is checked before opening, because opening some devices already has an effect.
  if (!(await stat(path)).isFile()) throw notRegular(path);
  const file = await open(path, constants.O_RDONLY | O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw notRegular(path);
}

/** Reads a whole file as text. Rejects like `openRegular`, and if the file has more than `mostBytes`. */
export async function readRegular(path: string, mostBytes: number): Promise<string> {
  const file = await openRegular(path);
  try {
    if ((await file.stat()).size > mostBytes)
      throw appFailure('input_unreadable', message('file.too_large', { path }));
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/**
 * Waits for a disk operation. Rejects after a long silence, or with the signal's reason; the thread that runs
 * the operation stays blocked.
 */
export async function answerOf<Answer>(
  asked: Promise<Answer>,
  path: string,
  { signal, silentMs = READING_SILENT_MS }: Patience = {},
): Promise<Answer> {
  signal?.throwIfAborted();
  let onAbort = (): void => undefined;
  let timer: NodeJS.Timeout | undefined;
  const abandoned = new Promise<never>((_, reject) => {
    onAbort = (): void => reject(signal?.reason as Error);
    signal?.addEventListener('abort', onAbort);
    timer = setTimeout(() => reject(silent(path, silentMs)), silentMs);
  });
  try {
    return await Promise.race([asked, abandoned]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  }
}

function notRegular(path: string): AppFailure {
  return appFailure('input_unreadable', message('input.pipe', { path }));
}

function silent(path: string, silentMs: number): AppFailure {
  const minutes = Math.round(silentMs / 60_000);
  return appFailure('input_unreadable', message('file.silent', { path, minutes }));
}
