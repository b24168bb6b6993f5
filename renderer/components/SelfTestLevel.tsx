import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SelfTestLevel as Level } from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';
import { runSelfTest, selfTestKey, useWeights } from '../state/computer/weights.ts';
import { ErrorCard } from './feedback/ErrorCard.tsx';
import { Hint } from './Hint.tsx';
import { WorkProgress } from './WorkProgress.tsx';

interface SelfTestLevelProps {
  level: Level;
  title: string;
  /** When it was last tested; null if the result says so itself. */
  when: string | null;
  isDue: boolean;
  start: string;
  /** Explains the start button. */
  hint?: string;
  /** Why the test can't start now. */
  hindrance?: string | null;
  /** Shown beside the start button. */
  beside?: ReactNode;
  /** The result of the last test. */
  children: ReactNode;
}

/** A test that the user starts: its last result, the button, and its progress. */
export function SelfTestLevel(props: SelfTestLevelProps) {
  const { level, title, when, isDue, start, hint, hindrance = null, beside, children } = props;
  const { t } = useTexts();
  const work = useWeights((state) => state.works[selfTestKey(level)]);
  const isAtWork = work !== undefined && work.error === null;
  const button = (
    <Button
      size="compact-sm"
      variant={isDue ? 'light' : 'default'}
      loading={isAtWork}
      disabled={hindrance !== null}
      onClick={() => void runSelfTest(level)}
      aria-label={level.level === 'speed' ? start : `${start}: ${title}`}
    >
      {start}
    </Button>
  );
  return (
    <Stack component="section" gap={8} aria-label={level.level === 'speed' ? title : `${start}: ${title}`}>
      {children}
      <Group gap="6px 12px">
        {hint === undefined ? button : <Hint label={hint}>{button}</Hint>}
        {beside}
        {(hindrance ?? when) !== null && !isAtWork && <span className="muted">{hindrance ?? when}</span>}
      </Group>
      {isAtWork && <WorkProgress progress={work.progress} />}
      {work?.error && (
        <ErrorCard
          error={work.error}
          actions={
            <Button size="compact-sm" onClick={() => void runSelfTest(level)}>
              {t('common.tryAgain')}
            </Button>
          }
        />
      )}
    </Stack>
  );
}
