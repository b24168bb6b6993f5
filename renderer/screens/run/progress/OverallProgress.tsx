import { Text } from '@mantine/core';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import {
  sequencesPerMinute,
  type RunProgress,
  type RunSummary,
} from '../../../../electron/contract/index.ts';
import { Card } from '../../../components/Card.tsx';
import { Facts, type FactItem } from '../../../components/Facts.tsx';
import { ProgressBar } from '../../../components/feedback/ProgressBar.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { queuedRuns, runStatus, useRuns } from '../../../state/runs/runs.ts';
import classes from './OverallProgress.module.css';

/** The run's progress by work, with its elapsed and remaining time. */
export function OverallProgress() {
  const { t, format } = useTexts();
  const progress = useLiveRun((state) => state.live?.progress ?? null);
  const run = useLiveRun((state) => state.live?.run ?? null);
  const facts = useFacts(run, progress);
  if (!progress || !run) return null;
  const { prepare } = progress;
  const done = run.state.phase === 'done';
  const status = runStatus(run);
  // Stripes move, so a run at rest must not have them.
  const unknown = isAtWork(run) ? null : 0;
  const fraction = status === 'created' ? null : (progress.fraction ?? unknown);
  // A run that waits has no progress, and a finished one has results.
  const isStill = status === 'queued' || done;
  return (
    <Card>
      <div className={classes.top}>
        {!isStill && (
          <span className={classes.percent}>{fraction === null ? '–' : format.progress(fraction)}</span>
        )}
        <Facts items={facts} />
      </div>
      {!isStill && (
        <ProgressBar
          label={t('progress.overall')}
          fraction={fraction}
          size="large"
          tone={isAtWork(run) ? 'active' : 'warn'}
          valueText={fraction === null ? t('progress.leftUnknown') : format.progress(fraction)}
        />
      )}
      {status !== 'queued' && (
        <Text mt={8} fz="sm" c="dimmed">
          {t(prepare.finished ? 'progress.read' : 'progress.reading', {
            count: prepare.records,
            bases: format.bases(prepare.bases),
          })}
        </Text>
      )}
    </Card>
  );
}

/** The figures that users look for, for a run that waits, is at work, or rests. */
function useFacts(run: RunSummary | null, progress: RunProgress | null): FactItem[] {
  const { t, format } = useTexts();
  const queued = useRuns((state) => (state.runs ? queuedRuns(state.runs).length : 0));
  if (!run || !progress) return [];
  const status = runStatus(run);
  if (status === 'queued') {
    return [
      {
        label: t('progress.place'),
        value: t('common.of', { part: (run.queuePosition ?? 0) + 1, whole: Math.max(queued, 1) }),
      },
    ];
  }
  const { parts, inputs, remainingSeconds } = progress;
  const atWork = isAtWork(run);
  const perMinute = sequencesPerMinute(progress.residuesPerSecond, progress);
  return [
    ...(atWork
      ? [
          {
            label: t('progress.left'),
            value: remainingSeconds
              ? t('progress.about', {
                  time: format.durationRange(remainingSeconds.low, remainingSeconds.high),
                })
              : t('progress.leftUnknown'),
          },
          {
            label: t('progress.speed'),
            value:
              perMinute === null ? '–' : t('progress.sequencesPerMinute', { speed: format.rate(perMinute) }),
          },
        ]
      : []),
    { label: t('progress.elapsed'), value: format.duration(progress.elapsedSeconds) },
    {
      label: t('progress.files'),
      value: t('common.of', { part: format.integer(inputs.done), whole: format.integer(inputs.total) }),
    },
    ...(parts.failed > 0 ? [{ label: t('progress.failedParts'), value: format.integer(parts.failed) }] : []),
  ];
}
