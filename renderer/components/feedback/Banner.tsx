import { Group, Text } from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconFlask,
  IconInfoCircle,
  IconPlugConnectedX,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './Banner.module.css';

const ICONS = {
  info: IconInfoCircle,
  warn: IconAlertTriangle,
  lost: IconPlugConnectedX,
  caution: IconFlask,
  good: IconCircleCheck,
};

interface BannerProps {
  tone: keyof typeof ICONS;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  /** Screen readers read it as soon as it appears. */
  urgent?: boolean;
}

/** A bar above the content with a message about all of it. */
export function Banner({ tone, title, children, actions, urgent = false }: BannerProps) {
  const Icon = ICONS[tone];
  return (
    <div
      className={`${classes.banner} ${tone === 'caution' ? classes.caution : ''}`}
      data-tone={tone}
      role={urgent ? 'alert' : undefined}
    >
      <Icon color={tone === 'caution' ? undefined : 'var(--tone)'} size={20} aria-hidden />
      <div className={classes.text}>
        <strong>{title}</strong>
        {children && (
          <Text span ml={8} fz="inherit">
            {children}
          </Text>
        )}
      </div>
      {actions && (
        <Group className={classes.actions ?? ''} gap={8}>
          {actions}
        </Group>
      )}
    </div>
  );
}
