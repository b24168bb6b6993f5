import { Tooltip } from '@mantine/core';
import type { ReactElement, ReactNode } from 'react';

/** Explains a column head or a figure in a tooltip, on hover and on keyboard focus. */
export function Hint({ label, children }: { label: ReactNode; children: ReactElement }) {
  return (
    <Tooltip
      label={label}
      multiline
      w={typeof label === 'string' ? 300 : 420}
      maw="calc(100vw - 24px)"
      withArrow
      openDelay={250}
      events={{ hover: true, focus: true, touch: true }}
    >
      {children}
    </Tooltip>
  );
}
