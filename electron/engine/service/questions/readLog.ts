import { open, realpath } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { appError, AppFailure } from '../../../contract/errors.ts';
import { isInside } from '../window/pathInside.ts';

/** More than any 5,000 lines that this program writes. */
const MOST_BYTES = 2_000_000;

export interface LogText {
  text: string;
  /** There are earlier lines. */
  truncated: boolean;
}

/** The end of a log file. Only files of the run's own logs/ are read, whatever the path says. */
export async function readLog(folder: string, path: string, lines: number): Promise<LogText> {
  const wanted = isAbsolute(path) ? path : resolve(folder, path);
  const file = await realpath(wanted).catch(() => undefined);
  const logs = await realpath(join(folder, 'logs')).catch(() => undefined);
  if (file === undefined || logs === undefined) {
    throw new AppFailure(
      appError('usage', 'There is no such log.', { nextStep: 'It appears when the worker starts.' }),
    );
  }
  if (!isInside(logs, file)) {
    throw new AppFailure(
      appError('usage', 'Only the logs of the run can be read here.', {
        nextStep: 'Choose one of its logs.',
      }),
    );
  }
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - MOST_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    const all = buffer.subarray(0, bytesRead).toString('utf8').trimEnd().split('\n');
    const kept = all.slice(-lines);
    return { text: kept.join('\n'), truncated: start > 0 || kept.length < all.length };
  } finally {
    await handle.close();
  }
}
