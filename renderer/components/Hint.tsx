import { Tooltip } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

/** What a head of a column or a figure means, shown where the pointer or the focus rests on it. */
export function Hint({ label, children }: { label: ReactNode; children: ReactElement }) {
  return (
    <Tooltip
      label={label}
      multiline
      w={typeof label === 'string' ? 300 : 420}
      withArrow
      openDelay={250}
      events={{ hover: true, focus: true, touch: true }}
    >
      {children}
    </Tooltip>
  );
}
