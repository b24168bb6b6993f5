import { Group, Text } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { Guarded } from './feedback/Guarded.tsx';

interface CardProps {
  title?: ReactNode;
  /** Shown to the right of the title, such as a figure or a button. */
  aside?: ReactNode;
  tone?: 'plain' | 'bad';
  className?: string;
  children: ReactNode;
}

/** A titled region on the page's own background, for content that is read. */
export function Section(props: CardProps) {
  return <Region {...props} ground="" />;
}

/** A titled region that stands out, for content that the user picks or acts on. */
export function Card(props: CardProps) {
  return <Region {...props} ground="surface" />;
}

function Region({
  title,
  aside,
  tone = 'plain',
  className = '',
  ground,
  children,
}: CardProps & { ground: string }) {
  const id = useId();
  return (
    <section
      className={`${ground} ${className}`}
      style={tone === 'bad' ? { borderColor: 'var(--bad)' } : undefined}
      aria-labelledby={title ? id : undefined}
    >
      {(title || aside) && (
        <Group justify="space-between" gap="4px 12px" mb={ground === '' ? 4 : 12} mih={28}>
          {title && (
            <Text component="h2" fz={ground === '' ? 'md' : 'lg'} fw={620} lh={1.4} id={id}>
              {title}
            </Text>
          )}
          {aside && (
            <Group gap={8} fz="sm" c="dimmed">
              <Guarded>{aside}</Guarded>
            </Group>
          )}
        </Group>
      )}
      <Guarded>{children}</Guarded>
    </section>
  );
}
