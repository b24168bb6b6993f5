import { appError, AppFailure } from '../../contract/errors.ts';
import type { Result } from '../../contract/result.ts';

/** For what a window asks at the wrong time. */
export function usage(cause: string, nextStep?: string): AppFailure {
  return new AppFailure(appError('usage', cause, nextStep ? { nextStep } : {}));
}

/** The router turns what is thrown into the contract's typed error. */
export function unwrap<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new AppFailure(result.error);
  return result.value;
}
