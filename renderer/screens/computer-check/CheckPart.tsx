import { Button, Group, Stack } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { VERDICTS, type CheckRequest, type LastResult } from '../../../electron/contract/index.ts';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Badge } from '../../components/feedback/StateBadge.tsx';
import { Hint } from '../../components/Hint.tsx';
import { WorkProgress } from '../../components/WorkProgress.tsx';
import { useTexts } from '../../i18n/index.ts';
import { checkKey, runCheck, useWeights } from '../../state/computer/weights.ts';
import { useSequenceTexts } from '../../state/engineTexts.ts';

interface CheckPartProps {
  request: CheckRequest & { check: 'controls' | 'precision' | 'speed' };
  /** What is checked. */
  title: string;
  /** The last results, the newest first. */
  results: readonly LastResult[];
  /** Why the check can't start now. */
  hindrance?: string | null;
  /** Shown above the results. */
  heading?: ReactNode;
  /** Shown beside the start button. */
  beside?: ReactNode;
}

/** A check that the user starts: its last results, the button, and its progress. */
export function CheckPart({ request, title, results, hindrance = null, heading, beside }: CheckPartProps) {
  const { t } = useTexts();
  const { check } = request;
  const work = useWeights((state) => state.works[checkKey(request)]);
  const isAtWork = work !== undefined && work.error === null;
  const [newest] = results;
  const isDue = check === 'controls' && (!newest || newest.outdated !== null);
  const label = `${t(`checks.start.${check}`)}: ${title}`;
  return (
    <Stack component="section" gap={8} aria-label={label}>
      {heading}
      {results.map((one) => (
        <Result key={[one.device.id, one.precision, one.checkedAt].join(' ')} result={one} />
      ))}
      <Group gap="6px 12px">
        <Hint label={t(`checks.hint.${check}`)}>
          <Button
            size="compact-sm"
            variant={isDue ? 'light' : 'default'}
            loading={isAtWork}
            disabled={hindrance !== null}
            onClick={() => void runCheck(request)}
            aria-label={label}
          >
            {t(`checks.start.${check}`)}
          </Button>
        </Hint>
        {beside}
        {!isAtWork && (hindrance !== null || !newest) && (
          <span className="muted">{hindrance ?? t('checks.never')}</span>
        )}
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

function Result({ result }: { result: LastResult }) {
  const { t, language, format } = useTexts();
  const say = useSequenceTexts();
  const { verdict, checkedAt, device, precision, seconds, outdated } = result;
  const works = verdict === 'works';
  const isQuick = result.check === 'controls' && result.figures?.panel.quick === true;
  return (
    <div>
      <Group gap="4px 10px">
        <Badge tone={works ? 'good' : 'bad'} icon={works ? IconCircleCheck : IconAlertTriangle}>
          {VERDICTS[verdict][language]}
        </Badge>
        <span className="muted">
          {[
            `${device.name}, ${precision.toUpperCase()}`,
            format.dateTime(checkedAt),
            format.duration(Math.max(1, seconds)),
            ...(isQuick ? [t('controls.quick')] : []),
            ...(outdated === null ? [] : [t(`checks.outdated.${outdated}`)]),
          ].join(' · ')}
        </span>
      </Group>
      {say(result)}
    </div>
  );
}
