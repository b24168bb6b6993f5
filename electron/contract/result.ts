import { AppFailure, type AppError } from './errors.ts';

/**
 * Outcome of an operation that can fail for a reason that the user should read. Errors are values, not
 * exceptions.
 */
export type Result<Value, Failure = AppError> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Failure };

export function ok<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function err<Failure>(error: Failure): { readonly ok: false; readonly error: Failure } {
  return { ok: false, error };
}

/** Returns the value or throws an AppFailure, for functions that cannot handle a failure themselves. */
export function unwrap<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new AppFailure(result.error);
  return result.value;
}

/** Ignores the result of a request that may be refused without consequence, and makes that explicit. */
export const allowRefusal: (result: Result<unknown>) => void = () => undefined;
