import { appError, type AppError, type ErrorCode } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { HERE } from './here.ts';

/** What the check needs to know of the system; tests pass a made-up one. */
export interface PathLimit {
  longestPath: number;
}

/**
 * Explains why a path with `below` more characters appended is too long for this system; undefined if it is
 * not.
 */
export function tooLong(
  path: string,
  { code, below = 0 }: { code: ErrorCode; below?: number },
  { longestPath }: PathLimit = HERE,
): AppError | undefined {
  const most = longestPath - below;
  return path.length <= most
    ? undefined
    : appError(code, message('place.too_long', { path, length: path.length, most }));
}

const RESERVED_ON_WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Removes characters with a special meaning to a file system, and those that Linux, macOS or Windows do not
 * allow in a name.
 */
export function safeName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\\/:*?"<>|]/gu, '_')
    .replace(/^[.\s]+/, '')
    .replace(/[.\s]+$/, '');
  return RESERVED_ON_WINDOWS.test(plain) ? `_${plain}` : plain;
}
