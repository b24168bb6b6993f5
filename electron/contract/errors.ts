import { z } from 'zod';
import { asMessage, message, nextOf, wordingSchema, type Message } from './messages.ts';
import { inWords, PROBLEMS, errorCodeSchema, type ErrorCode, type Said } from './problems.ts';

export { errorCodeSchema, type ErrorCode };

export const appErrorSchema = z.object({
  code: errorCodeSchema,
  title: z.string(),
  /** What happened, in plain words. */
  cause: z.string(),
  nextStep: z.string(),
  /** Details for the log: paths, exit codes, the last lines of standard error. */
  detail: z.string().optional(),
  /** Cause and next step for a window in another language; absent for texts without a key. */
  wording: z.object({ cause: wordingSchema.optional(), nextStep: wordingSchema.optional() }).optional(),
});
export type AppError = z.infer<typeof appErrorSchema>;

interface ErrorTexts {
  nextStep?: string | Message | undefined;
  detail?: string | undefined;
}

/** The next step is the one named, else the one that belongs to the cause (`nextOf`), else the usual one of the code. */
export function appError(code: ErrorCode, cause: string | Message, more?: ErrorTexts): AppError {
  const [title] = PROBLEMS[code];
  const { text, wording } = asMessage(cause);
  const next = asMessage(more?.nextStep ?? nextOf(wording) ?? usualNextStep(code));
  return {
    code,
    title,
    cause: text,
    nextStep: next.text,
    ...(more?.detail ? { detail: more.detail } : {}),
    ...(wording || next.wording
      ? {
          wording: {
            ...(wording ? { cause: wording } : {}),
            ...(next.wording ? { nextStep: next.wording } : {}),
          },
        }
      : {}),
  };
}

/** What is written for a code whose cause has no next step of its own. */
export const usualNextStep = (code: ErrorCode): Message => ({
  text: PROBLEMS[code][1],
  wording: { key: `error.${code}.next`, values: {} },
});

/** The error of a problem whose words are all in the list, of the file named if it is one of a file. */
export function errorOf(said: Said, file: string | null = null): AppError {
  const { sentence, next } = inWords(said);
  return appError(said.code, file === null ? sentence : message('said_of_file', { file, text: sentence }), {
    nextStep: next,
  });
}

/** The next step of an error as a message, for use inside another message. */
export function nextStepOf({ nextStep, wording }: AppError): Message {
  return { text: nextStep, wording: wording?.nextStep ?? null };
}

/** The title of an error as a message; windows look it up by the error's code. */
export function titleOf({ code, title }: AppError): Message {
  return { text: title, wording: { key: `error.${code}.title`, values: {} } };
}

/** The cause of an error as a message, for use inside another message. */
export function causeOf({ cause, wording }: AppError): Message {
  return { text: cause, wording: wording?.cause ?? null };
}

/** Carries an AppError through code that can only throw; caught at the engine's edges. */
export class AppFailure extends Error {
  readonly error: AppError;

  constructor(error: AppError) {
    super(`${error.title}: ${error.cause}`);
    this.name = 'AppFailure';
    this.error = error;
  }
}

/** The failure with the error that `appError` makes. */
export function appFailure(...error: Parameters<typeof appError>): AppFailure {
  return new AppFailure(appError(...error));
}

/** The failure of a request that cannot be met as it is, or not now. */
export const usage = (cause: string | Message, nextStep?: string | Message): AppFailure =>
  appFailure('usage', cause, { nextStep });

export function asAppError(reason: unknown): AppError {
  if (reason instanceof AppFailure) return reason.error;
  const message = reason instanceof Error ? reason.message : String(reason);
  const detail = reason instanceof Error ? reason.stack : undefined;
  return appError('internal', message, detail ? { detail } : {});
}

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

/** The failed result with the error that `appError` makes. */
export function failWith(...error: Parameters<typeof appError>): {
  readonly ok: false;
  readonly error: AppError;
} {
  return err(appError(...error));
}

/** Returns the value or throws an AppFailure, for functions that cannot handle a failure themselves. */
export function unwrap<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new AppFailure(result.error);
  return result.value;
}

/** Ignores the result of a request that may be refused without consequence, and makes that explicit. */
export const allowRefusal: (result: Result<unknown>) => void = () => undefined;
