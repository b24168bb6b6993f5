import { AppFailure, type AppError } from './errors.ts';

/** Outcome of what can fail for a reason that the user should read. Errors are values, not exceptions. */
export type Result<Value, Failure = AppError> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Failure };

export function ok<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function err<Failure>(error: Failure): { readonly ok: false; readonly error: Failure } {
  return { ok: false, error };
}

/** The value, for callers that can do nothing about a failure: whoever called them hears of it as an AppFailure. */
export function unwrap<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new AppFailure(result.error);
  return result.value;
}

/** For a request that may be refused with nothing left to do then. Says so, where a Result would otherwise be ignored. */
export const allowRefusal: (result: Result<unknown>) => void = () => undefined;
