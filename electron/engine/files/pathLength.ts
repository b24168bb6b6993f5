import { appError, type AppError, type ErrorCode } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { HERE } from '../system/here.ts';

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
    : appError(code, message('place.too_long', { path, length: path.length, most }), {
        nextStep: message('place.too_long.next'),
      });
}
