import { notifications } from '@mantine/notifications';

const STAYS_MS = 5000;

/** A line that says that something was done, and leaves by itself. */
export function say(text: string): void {
  notifications.show({ message: text, autoClose: STAYS_MS, color: 'teal', role: 'status' });
}
