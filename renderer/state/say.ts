import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { toShownError, type ShownError } from '../api/callError.ts';

const STAYS_MS = 5000;
/** Long enough to read the next step. */
const ERROR_STAYS_MS = 15_000;

/** Shows a message that something was done; it disappears by itself. */
export function say(text: string): void {
  notifications.show({ message: text, autoClose: STAYS_MS, color: 'teal', role: 'status' });
}

let drawError: (error: ShownError) => ReactNode = ({ title }) => title;

/** Called by the component that renders errors: nothing here may import a component. */
export function drawErrorsWith(draw: typeof drawError): void {
  drawError = draw;
}

const shown = new Map<string, ShownError['code']>();

/** Shows an error for a while; a repeated error is not shown twice. */
export function sayError(reason: unknown): void {
  const error = toShownError(reason);
  const id = `${error.code}: ${error.cause}`;
  shown.set(id, error.code);
  notifications.hide(id);
  notifications.show({
    id,
    message: drawError(error),
    autoClose: ERROR_STAYS_MS,
    color: 'red.8',
    onClose: () => shown.delete(id),
  });
}

/** Hides errors that no longer hold. */
export function hideErrors(concerns: (code: ShownError['code']) => boolean): void {
  for (const [id, code] of shown) if (concerns(code)) notifications.hide(id);
}
