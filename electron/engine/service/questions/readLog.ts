import { closeSync, fstatSync, readSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { appError, AppFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { openPlain, pathInRun } from '../../files/runFiles.ts';

/** More than the size of any 5,000 lines that this program writes. */
const MOST_BYTES = 2_000_000;

export interface LogText {
  text: string;
  /** Whether there are earlier lines. */
  truncated: boolean;
}

/**
 * Reads the end of a log file. Only files in the run's own logs/ are read, whatever the path says, and no
 * links.
 */
export function readLog(folder: string, path: string, lines: number): LogText {
  const name = nameInRun(folder, path);
  if (!/^logs\/[^/]+$/.test(name)) {
    throw new AppFailure(
      appError('usage', 'Only the logs of the run can be read here.', {
        nextStep: 'Choose one of its logs.',
      }),
    );
  }
  const descriptor = openLogFile(folder, name);
  try {
    const { size } = fstatSync(descriptor);
    const start = Math.max(0, size - MOST_BYTES);
    const buffer = Buffer.alloc(size - start);
    const bytesRead = readSync(descriptor, buffer, 0, buffer.length, start);
    const all = buffer.subarray(0, bytesRead).toString('utf8').trimEnd().split('\n');
    const kept = all.slice(-lines);
    return { text: kept.join('\n'), truncated: start > 0 || kept.length < all.length };
  } finally {
    closeSync(descriptor);
  }
}

function openLogFile(folder: string, name: string): number {
  try {
    return openPlain(pathInRun(folder, name), 'read');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw new AppFailure(appError('usage', message('log.none'), { nextStep: message('log.none.next') }));
  }
}

/** The path below the run's folder, with slashes: `logs/prepare.log`. */
function nameInRun(folder: string, path: string): string {
  if (!isAbsolute(path)) return path;
  const [below, real] = [relative(folder, path), relative(realpathSync(folder), path)];
  return (below.startsWith('..') ? real : below).split(sep).join('/');
}
