import { Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';

/** Long enough to notice a mistake. */
const STAYS_MS = 10_000;

/** A message that something was removed, with a button that restores it. */
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
