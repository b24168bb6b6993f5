import { notifications } from '@mantine/notifications';
import { toShownError } from '../api/callError.ts';
import { ErrorCard } from './ErrorCard.tsx';

const STAYS_MS = 15_000;

/** Stays long enough to read the next step. The same error, made again, is not shown twice. */
export function sayError(reason: unknown): void {
  const error = toShownError(reason);
  const id = `${error.code}: ${error.cause}`;
  notifications.hide(id);
  notifications.show({ id, message: <ErrorCard error={error} bare />, autoClose: STAYS_MS, color: 'red.8' });
}
