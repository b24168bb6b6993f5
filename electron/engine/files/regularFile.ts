import { constants } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { appError, AppFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';

/*
 * Files that a user, a run or a model names may be on any disk, and may be pipes or devices. Opening a pipe that nobody writes to
 * never ends, nor does reading from a network disk that is gone, and each keeps one of Node's few threads for files.
 */

/** Time without an answer from a disk, or from a process that reads inputs, after which the disk is taken not to answer. */
export const READING_SILENT_MS = 600_000;

/** Windows has no such flag, and no pipes among its files. */
const { O_NONBLOCK = 0 } = constants as Partial<typeof constants>;

export interface Patience {
  signal?: AbortSignal | undefined;
  silentMs?: number | undefined;
}

/** Opens a file to read. Rejects with AppFailure where it is a pipe, a device or a folder, and where its disk does not answer. */
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
  // Before it is opened: to open some devices is to use them.
  if (!(await stat(path)).isFile()) throw notRegular(path);
  const file = await open(path, constants.O_RDONLY | O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw notRegular(path);
}

/** The whole of a file as text. Rejects as `openRegular` does, and where it has more bytes. */
export async function readRegular(path: string, mostBytes: number): Promise<string> {
  const file = await openRegular(path);
  try {
    if ((await file.stat()).size > mostBytes)
      throw new AppFailure(appError('input_unreadable', message('file.too_large', { path })));
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** What a disk answers. Rejects when it has said nothing for long, or with the signal's reason; the thread that asked waits on. */
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
  return new AppFailure(
    appError('input_unreadable', message('input.pipe', { path }), { nextStep: message('input.pipe.next') }),
  );
}

function silent(path: string, silentMs: number): AppFailure {
  const minutes = Math.round(silentMs / 60_000);
  return new AppFailure(
    appError('input_unreadable', message('file.silent', { path, minutes }), {
      nextStep: message('file.silent.next'),
    }),
  );
}
