import { appError, type AppError } from '../../contract/errors.ts';
import { PROTOCOL_VERSION } from '../../contract/protocol/index.ts';

/** What is wrong with the first message of a process: it has to be `hello`, in this program's version of the protocol. */
export function wrongGreeting(message: { type: string; protocol?: number }): AppError | null {
  if (message.type === 'hello' && message.protocol === PROTOCOL_VERSION) return null;
  return appError(
    'protocol_version',
    `The Python backend speaks protocol version ${message.protocol ?? 'unknown'}, this program version ${PROTOCOL_VERSION}.`,
  );
}
