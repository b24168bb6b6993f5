import { Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';

/** Long enough to notice that it was not meant. */
const STAYS_MS = 10_000;

/** A line that says what was taken away, with the button that brings it back. */
export function sayUndo(text: string, label: string, undo: () => void): void {
  const id = notifications.show({
    message: (
      <Group justify="space-between" gap={12} wrap="nowrap">
        <span>{text}</span>
        <Button
          size="compact-sm"
          variant="default"
          flex="none"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          {label}
        </Button>
      </Group>
    ),
    autoClose: STAYS_MS,
    color: 'teal',
    role: 'status',
  });
}
