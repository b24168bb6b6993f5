import type { AppError } from './errors.ts';

/** Outcome of what can fail for a reason that the user should read. Errors are values, not exceptions. */
export type Result<Value, Failure = AppError> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: Failure };

export function ok<Value>(value: Value): { readonly ok: true; readonly value: Value } {
  return { ok: true, value };
}

export function err<Failure>(error: Failure): { readonly ok: false; readonly error: Failure } {
  return { ok: false, error };
}
