import { Group, Text } from '@mantine/core';
import { useId, type ReactNode } from 'react';

interface CardProps {
  title?: ReactNode;
  /** Right of the title: a figure, a button. */
  aside?: ReactNode;
  tone?: 'plain' | 'bad';
  className?: string;
  children: ReactNode;
}

/** A titled region of a screen. */
export function Card({ title, aside, tone = 'plain', className = '', children }: CardProps) {
  const id = useId();
  return (
    <section
      className={`surface ${className}`}
      style={tone === 'bad' ? { borderColor: 'var(--bad)' } : undefined}
      aria-labelledby={title ? id : undefined}
    >
      {(title || aside) && (
        <Group justify="space-between" gap="4px 12px" mb={12} mih={28}>
          {title && (
            <Text component="h2" fz="lg" fw={620} lh={1.4} id={id}>
              {title}
            </Text>
          )}
          {aside && (
            <Group gap={8} fz="sm" c="dimmed">
              {aside}
            </Group>
          )}
        </Group>
      )}
      {children}
    </section>
  );
}
