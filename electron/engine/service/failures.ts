import type { Message } from '../../contract/messages.ts';
import { appError, AppFailure } from '../../contract/errors.ts';

/** The error for a window's request at the wrong time. */
export function usage(cause: string | Message, nextStep?: string): AppFailure {
  return new AppFailure(appError('usage', cause, nextStep ? { nextStep } : {}));
}
