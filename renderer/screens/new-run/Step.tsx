import { Box, Button, Center, Group, Text } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useId, type ReactNode } from 'react';
import { useTexts } from '../../i18n/index.ts';
import classes from './NewRunScreen.module.css';

interface StepProps {
  number: number;
  title: string;
  /** The decision, in one line. */
  summary?: ReactNode;
  done: boolean;
  opened: boolean;
  /** Undefined if the step cannot be opened or closed. */
  onToggle: ((opened: boolean) => void) | undefined;
  /** Shown to the right of the title while the step is open. */
  aside?: ReactNode;
  /** Shown whether the step is open or closed. */
  note?: ReactNode;
  children?: ReactNode;
}

/** One of the three steps to a run. A finished step shows its summary and a button that opens it again. */
export function Step({ number, title, summary, done, opened, onToggle, aside, note, children }: StepProps) {
  const { t } = useTexts();
  const id = useId();
  return (
    <section className={classes.step} aria-labelledby={id}>
      <Center
        component="span"
        w={28}
        h={28}
        bdrs={14}
        className={classes.number ?? ''}
        data-done={done}
        aria-hidden
      >
        {done ? <IconCheck size={16} /> : number}
      </Center>
      <Box miw={0}>
        <Group justify="space-between" gap="4px 12px" mih={28}>
          <Group gap="0 12px" flex="1 1 240px" miw={0}>
            <Text component="h2" fz="lg" fw={620} lh={1.4} id={id}>
              {title}
            </Text>
            {summary !== undefined && (
              <Text component="div" c="dimmed" style={{ overflowWrap: 'anywhere' }} aria-live="polite">
                {summary}
              </Text>
            )}
          </Group>
          {opened && aside}
          {onToggle && (
            <Button
              variant="default"
              size="compact-sm"
              aria-expanded={opened}
              aria-label={`${t(opened ? 'newRun.hide' : 'newRun.change')}: ${title}`}
              onClick={() => onToggle(!opened)}
            >
              {t(opened ? 'newRun.hide' : 'newRun.change')}
            </Button>
          )}
        </Group>
        {note}
        {opened && children && <Box mt={10}>{children}</Box>}
      </Box>
    </section>
  );
}
