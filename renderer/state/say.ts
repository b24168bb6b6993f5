import { Button, Group, type ButtonProps } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { createElement, type FunctionComponent, type ReactNode } from 'react';
import { toShownError, type ShownError } from '../api/callError.ts';

const STAYS_MS = 5000;
/** Long enough to notice a mistake, or to reach a button. */
const WITH_BUTTONS_STAYS_MS = 10_000;
/** Long enough to read the next step. */
const ERROR_STAYS_MS = 15_000;

/** Without the generic type of Mantine's button, which `createElement` cannot infer. */
const PlainButton = Button as FunctionComponent<ButtonProps & { onClick: () => void }>;

interface Offer {
  label: string;
  run: () => unknown;
}

/** Shows a message that something was done, with buttons for what may follow; it disappears by itself. */
export function say(text: string, offers: readonly Offer[] = []): void {
  const id = notifications.show({
    message: offers.length === 0 ? text : withButtons(),
    autoClose: offers.length === 0 ? STAYS_MS : WITH_BUTTONS_STAYS_MS,
    color: 'teal',
    role: 'status',
  });

  function withButtons(): ReactNode {
    const buttons = offers.map(({ label, run }) => {
      const onClick = () => {
        notifications.hide(id);
        Promise.resolve(run()).catch(sayError);
      };
      return createElement(
        PlainButton,
        { key: label, size: 'compact-sm', variant: 'default', onClick },
        label,
      );
    });
    return createElement(
      Group,
      { justify: 'space-between', gap: '6px 12px' },
      createElement('span', { style: { overflowWrap: 'anywhere' } }, text),
      createElement(Group, { gap: 6 }, buttons),
    );
  }
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
