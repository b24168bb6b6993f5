import { Tooltip } from '@mantine/core';
import type { ReactElement } from 'react';

/** What a head of a column or a figure means, shown where the pointer or the focus rests on it. */
export function Hint({ label, children }: { label: string; children: ReactElement }) {
  return (
    <Tooltip
      label={label}
      multiline
      w={300}
      withArrow
      openDelay={250}
      events={{ hover: true, focus: true, touch: true }}
    >
      {children}
    </Tooltip>
  );
}
