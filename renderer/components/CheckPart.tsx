import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { CheckRequest } from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';
import { runCheck, checkKey, useWeights } from '../state/computer/weights.ts';
import { ErrorCard } from './feedback/ErrorCard.tsx';
import { Hint } from './Hint.tsx';
import { WorkProgress } from './WorkProgress.tsx';

interface CheckPartProps {
  request: CheckRequest;
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

/** A check that the user starts: its last result, the button, and its progress. */
export function CheckPart(props: CheckPartProps) {
  const { request, title, when, isDue, start, hint, hindrance = null, beside, children } = props;
  const { t } = useTexts();
  const work = useWeights((state) => state.works[checkKey(request)]);
  const isAtWork = work !== undefined && work.error === null;
  const button = (
    <Button
      size="compact-sm"
      variant={isDue ? 'light' : 'default'}
      loading={isAtWork}
      disabled={hindrance !== null}
      onClick={() => void runCheck(request)}
      aria-label={request.check === 'speed' ? start : `${start}: ${title}`}
    >
      {start}
    </Button>
  );
  return (
    <Stack component="section" gap={8} aria-label={request.check === 'speed' ? title : `${start}: ${title}`}>
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
            <Button size="compact-sm" onClick={() => void runCheck(request)}>
              {t('common.tryAgain')}
            </Button>
          }
        />
      )}
    </Stack>
  );
}
