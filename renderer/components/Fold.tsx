import { Button, Collapse, Text } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId, useState, type ReactNode } from 'react';
import { Guarded } from './feedback/Guarded.tsx';

interface FoldProps {
  title: string;
  /** Forces the fold open, for example because something inside is wrong. */
  opened?: boolean;
  startsOpen?: boolean;
  children: ReactNode;
}

/** A small button that shows and hides what stands below it. */
export function Fold({ title, opened: forced = false, startsOpen = false, children }: FoldProps) {
  const [wanted, setWanted] = useState(startsOpen);
  const id = useId();
  const opened = wanted || forced;
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        style={{ placeSelf: 'start', maxWidth: '100%' }}
        aria-expanded={opened}
        aria-controls={id}
        leftSection={
          opened ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />
        }
        onClick={() => setWanted(!opened)}
      >
        <Text span inherit truncate>
          {title}
        </Text>
      </Button>
      <Collapse expanded={opened} id={id}>
        <Guarded>{children}</Guarded>
      </Collapse>
    </>
  );
}
