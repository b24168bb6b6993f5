import { Group } from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconInfoCircle,
  IconPlugConnectedX,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './Banner.module.css';

const ICONS = {
  info: IconInfoCircle,
  warn: IconAlertTriangle,
  lost: IconPlugConnectedX,
  good: IconCircleCheck,
  bad: IconCircleX,
};

interface BannerProps {
  tone: keyof typeof ICONS;
  title?: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  /** Screen readers read it as soon as it appears. */
  urgent?: boolean;
  /** Draws no frame, for use in a line of a list, or inside something that has one. */
  bare?: boolean;
}

/** The one look of a message about something: an icon in the colour of its tone, words, and the buttons for what to do. */
export function Banner({ tone, title, children, actions, urgent = false, bare = false }: BannerProps) {
  const Icon = ICONS[tone];
  return (
    <div
      className={`${classes.banner} ${bare ? '' : classes.framed}`}
      data-tone={tone}
      role={urgent ? 'alert' : undefined}
    >
      <Icon size={bare ? 16 : 18} aria-hidden />
      <div className={classes.text}>
        {title && <strong>{title}</strong>} {children}
      </div>
      {actions && (
        <Group className={`${classes.actions} unless-empty`} gap={8}>
          {actions}
        </Group>
      )}
    </div>
  );
}
