import { ORPCError } from '@orpc/client';
import { asAppError, errorCodeSchema, type AppError, type ErrorCode } from '../../electron/contract/index.ts';

/** An error as the window shows it: one from the engine, or that the engine cannot be reached. */
export type ShownError = Omit<AppError, 'code'> & { readonly code: ErrorCode | 'connection_lost' };

/** A call was made, or was in flight, while there was no link to the engine. */
export class ConnectionLost extends Error {
  constructor() {
    super('No connection to the engine');
    this.name = 'ConnectionLost';
  }
}

const CONNECTION_LOST: ShownError = {
  code: 'connection_lost',
  title: 'No connection to the program',
  cause: 'The program could not be asked, because the connection to it is lost.',
  nextStep: 'Wait until the connection is back, then try again.',
};

/** oRPC aborts the calls in flight when its peer closes. */
export const isConnectionLost = (reason: unknown) =>
  reason instanceof ConnectionLost || (reason instanceof Error && reason.name === 'AbortError');

/** Accepts whatever a call threw, or an error that is ready to be shown. */
export function toShownError(reason: unknown): ShownError {
  if (isConnectionLost(reason) || reason === CONNECTION_LOST) return CONNECTION_LOST;
  if (reason instanceof ORPCError && reason.code === 'APP' && isAppError(reason.data)) return reason.data;
  if (isAppError(reason)) return reason;
  return asAppError(reason);
}

function isAppError(data: unknown): data is AppError {
  return (
    typeof data === 'object' &&
    data !== null &&
    'code' in data &&
    errorCodeSchema.safeParse(data.code).success &&
    'title' in data &&
    'cause' in data
  );
}
