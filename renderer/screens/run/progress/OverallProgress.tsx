import { Group, SimpleGrid, Text } from '@mantine/core';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import type { RunProgress, RunSummary } from '../../../../electron/contract/index.ts';
import { Card } from '../../../components/Card.tsx';
import { Facts, type FactItem } from '../../../components/Facts.tsx';
import { ProgressBar } from '../../../components/feedback/ProgressBar.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { sequencesPerMinute, useLiveRun } from '../../../state/runs/liveRun.ts';
import { queuedRuns, runStatus, useRuns } from '../../../state/runs/runs.ts';
import classes from './OverallProgress.module.css';
import { useShareTexts, useViralShares } from './ViralShareCard.tsx';

/** How far the run is by work, how long it has taken and will take, and its two stages apart. */
export function OverallProgress() {
  const { t, format } = useTexts();
  const progress = useLiveRun((state) => state.live?.progress ?? null);
  const run = useLiveRun((state) => state.live?.run ?? null);
  const facts = useFacts(run, progress);
  if (!progress || !run) return null;
  const { prepare } = progress;
  const done = run.state.phase === 'done';
  const status = runStatus(run);
  // Stripes move: where nobody works, nothing is on its way.
  const unknown = isAtWork(run) ? null : 0;
  const fraction = done ? 1 : status === 'created' ? null : (progress.fraction ?? unknown);
  const tone = done ? 'good' : isAtWork(run) ? 'active' : 'warn';
  const stages = stageFractions(progress);
  const isStill = status === 'queued';
  return (
    <Card>
      <div className={classes.top}>
        {!isStill && (
          <span className={classes.percent}>
            {fraction === null ? '–' : format.percent(fraction, fraction < 1 ? 1 : 0)}
          </span>
        )}
        <Facts items={facts} />
      </div>
      {!isStill && (
        <ProgressBar
          label={t('progress.overall')}
          fraction={fraction}
          size="large"
          tone={tone}
          valueText={fraction === null ? t('progress.leftUnknown') : format.percent(fraction)}
        />
      )}
      {!isStill && (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing={32} verticalSpacing={12} mt={18}>
          <Stage
            title={t('progress.reading')}
            fraction={stages.read}
            finished={prepare.finished}
            text={t('progress.readingText', {
              sequences: format.integer(prepare.records),
              count: prepare.records,
              bases: format.bases(prepare.bases),
            })}
          />
          <Stage
            title={t('progress.scoring')}
            fraction={stages.scored}
            finished={done || stages.scored === 1}
          />
        </SimpleGrid>
      )}
    </Card>
  );
}

/** The figures that people ask for, of a run that waits, is at work, or rests. */
function useFacts(run: RunSummary | null, progress: RunProgress | null): FactItem[] {
  const { t, format } = useTexts();
  const queued = useRuns((state) => (state.runs ? queuedRuns(state.runs).length : 0));
  const viral = useViralShares(run);
  const texts = useShareTexts();
  if (!run || !progress) return [];
  const status = runStatus(run);
  if (status === 'queued') {
    const { queuePosition, startsInSeconds: starts } = run;
    return [
      {
        label: t('progress.place'),
        value: t('common.of', { part: (queuePosition ?? 0) + 1, whole: Math.max(queued, 1) }),
      },
      {
        label: t('progress.starts'),
        value: !starts
          ? t('progress.startsUnknown')
          : starts.high < 1
            ? t('progress.startsNow')
            : t('progress.startsIn', { time: format.durationRange(starts.low, starts.high) }),
      },
    ];
  }
  const { parts, inputs, remainingSeconds } = progress;
  const atWork = isAtWork(run);
  const perMinute = sequencesPerMinute(progress.residuesPerSecond, progress);
  const { viralSequences, sequences } = run;
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
    {
      label: t(run.state.phase === 'done' ? 'progress.viral' : 'progress.viralSoFar'),
      value:
        run.state.phase !== 'done'
          ? viral
            ? `${texts.share(viral.run)}${viral.run.estimate ? ` ${texts.interval(viral.run)}` : ''}`
            : '–'
          : typeof viralSequences !== 'number' || !sequences
            ? '–'
            : t('common.of', { part: format.integer(viralSequences), whole: format.integer(sequences) }),
    },
    { label: t('progress.elapsed'), value: format.duration(run.computingSeconds ?? progress.elapsedSeconds) },
    {
      label: t('progress.files'),
      value: t('common.of', { part: format.integer(inputs.done), whole: format.integer(inputs.total) }),
    },
    ...(parts.failed > 0 ? [{ label: t('progress.failedParts'), value: format.integer(parts.failed) }] : []),
  ];
}

/** How far the two stages are, each null while that cannot be said. */
function stageFractions({ prepare, residues }: RunProgress): { read: number | null; scored: number | null } {
  const share = (done: number, total: number) => (total > 0 ? done / total : null);
  if (!prepare.finished)
    return {
      read: share(prepare.bytesRead, prepare.bytesTotal),
      scored: share(Math.min(residues.done, residues.total * 0.999), residues.total),
    };
  return { read: 1, scored: share(residues.done, residues.total) ?? 1 };
}

interface StageProps {
  title: string;
  fraction: number | null;
  finished: boolean;
  text?: string;
}

function Stage({ title, fraction, finished, text }: StageProps) {
  const { format } = useTexts();
  return (
    <div>
      <Group gap={10} mb={4} align="baseline" fz="sm">
        <b>{title}</b>
        {text !== undefined && <span className="muted">{text}</span>}
        <Text span ml="auto" fz="inherit" c="dimmed">
          {fraction === null ? '–' : format.percent(fraction)}
        </Text>
      </Group>
      <ProgressBar label={title} fraction={fraction ?? 0} size="thin" tone={finished ? 'good' : 'neutral'} />
    </div>
  );
}
