import { EmptyState } from '@mantine/core';
import type { ReactNode } from 'react';

interface EmptyProps {
  icon: ReactNode;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** A place with nothing in it yet: says what will be here, and how it gets there. */
export function Empty({ icon, title, children, actions }: EmptyProps) {
  return (
    <EmptyState icon={icon} title={title} description={children} variant="light" py="xl">
      {actions && <EmptyState.Actions>{actions}</EmptyState.Actions>}
    </EmptyState>
  );
}
