import { EmptyState } from '@mantine/core';
import type { ReactNode } from 'react';

interface EmptyProps {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** Shown in place of empty content: says what will be here, and how to get it. */
export function Empty({ icon, title, children, actions }: EmptyProps) {
  return (
    <EmptyState icon={icon} title={title} description={children} variant="light" py="xl">
      {actions && <EmptyState.Actions>{actions}</EmptyState.Actions>}
    </EmptyState>
  );
}
