import { appError, type AppError, type ErrorCode } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { HERE } from '../system/here.ts';

/** What is asked of the system; tests ask a made-up one. */
export interface PathLimit {
  longestPath: number;
}

/** Why a path is too long for this system, with as many characters as `below` behind it; undefined where it is not. */
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
