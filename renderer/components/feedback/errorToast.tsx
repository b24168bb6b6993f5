import { notifications } from '@mantine/notifications';
import { toShownError, type ShownError } from '../../api/callError.ts';
import { ErrorCard } from './ErrorCard.tsx';

const STAYS_MS = 15_000;

const shown = new Map<string, ShownError['code']>();

/** Stays long enough to read the next step. The same error, made again, is not shown twice. */
export function sayError(reason: unknown): void {
  const error = toShownError(reason);
  const id = `${error.code}: ${error.cause}`;
  shown.set(id, error.code);
  notifications.hide(id);
  notifications.show({
    id,
    message: <ErrorCard error={error} bare />,
    autoClose: STAYS_MS,
    color: 'red.8',
    onClose: () => shown.delete(id),
  });
}

/** Takes away what no longer holds. */
export function hideErrors(concerns: (code: ShownError['code']) => boolean): void {
  for (const [id, code] of shown) if (concerns(code)) notifications.hide(id);
}
