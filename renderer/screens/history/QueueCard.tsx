import { useMutation } from '@tanstack/react-query';
import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { idle } from '../../components/idle.ts';
import { announce } from '../../components/feedback/Announcer.tsx';
import { Card } from '../../components/Card.tsx';
import { ProgressBar } from '../../components/feedback/ProgressBar.tsx';
import { RunBadge } from '../../components/feedback/StateBadge.tsx';
import { useTexts, type Texts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { goToRun } from '../../state/navigation.ts';
import { resumeRun } from '../../state/runs/runOrders.ts';
import { describeInputs } from './describeRun.ts';
import classes from './History.module.css';

interface QueueCardProps {
  busy: readonly RunSummary[];
  /** In the order in which they will start. */
  waiting: readonly RunSummary[];
}

export function QueueCard({ busy, waiting }: QueueCardProps) {
  const texts = useTexts();
  const { t, format } = texts;
  const move = useMutation({
    mutationFn: ({ run, position }: { run: RunSummary; position: number }) =>
      engine.runs.moveInQueue({ runId: run.runId, position }),
    onSuccess: (_moved, { run, position }) =>
      announce(t('history.moved', { name: run.name, position: position + 1 })),
  });
  const moveTo = (run: RunSummary, position: number) => {
    if (position >= 0 && position < waiting.length && !move.isPending) move.mutate({ run, position });
  };
  const [next] = waiting;
  const begin = useMutation({ mutationFn: resumeRun });
  return (
    <Card
      title={t('history.queue')}
      aside={
        busy.length === 0 && next ? (
          <Button size="compact-sm" loading={begin.isPending} onClick={() => begin.mutate(next)}>
            {t('run.startNow')}
          </Button>
        ) : (
          t('history.queueHint')
        )
      }
    >
      <ol className="plain-list" data-live>
        {busy.map((run) => (
          <li key={run.runId} className={classes.item}>
            <Text span c="dimmed" ta="center" />
            <Name run={run} />
            <RunBadge run={run} />
            <div>
              <Text span fz="xs" c="dimmed">
                {run.fraction === null ? '–' : format.percent(run.fraction)}
              </Text>
              <ProgressBar label={t('files.progressOf', { name: run.name })} fraction={run.fraction} />
            </div>
            <span />
          </li>
        ))}
        {waiting.map((run, index) => (
          <li key={run.runId} className={classes.item}>
            <Text span c="dimmed" ta="center">
              {index + 1}
            </Text>
            <Name run={run} samples />
            <RunBadge run={run} />
            <Text span fz="xs" c="dimmed">
              {expectedStart(run, texts)}
            </Text>
            <Group component="span" gap={4} justify="flex-end" wrap="nowrap">
              <ActionIcon
                variant="default"
                aria-label={t('history.earlier', { name: run.name })}
                {...idle(index === 0)}
                onClick={() => moveTo(run, index - 1)}
              >
                <IconArrowUp size={16} aria-hidden />
              </ActionIcon>
              <ActionIcon
                variant="default"
                aria-label={t('history.later', { name: run.name })}
                {...idle(index === waiting.length - 1)}
                onClick={() => moveTo(run, index + 1)}
              >
                <IconArrowDown size={16} aria-hidden />
              </ActionIcon>
            </Group>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function expectedStart({ startsInSeconds: starts }: RunSummary, { t, format }: Texts): string {
  if (!starts) return t('progress.startsUnknown');
  return starts.high < 1
    ? t('progress.startsNow')
    : t('progress.startsIn', { time: format.durationRange(starts.low, starts.high) });
}

const SAMPLES_SHOWN = 3;

/** Null where the samples are no more than the files. */
function namesOfSamples(run: RunSummary, { t, format }: Texts): string | null {
  const names = [...new Set(run.samples)];
  if (run.plan.inputs.length < 2 || names.length === 0) return null;
  const [shown, more] = [names.slice(0, SAMPLES_SHOWN), names.length - SAMPLES_SHOWN];
  return more > 0 ? t('history.sampleNames', { shown: shown.join(', '), count: more }) : format.list(shown);
}

function Name({ run, samples = false }: { run: RunSummary; samples?: boolean }) {
  const texts = useTexts();
  const named = samples ? namesOfSamples(run, texts) : null;
  return (
    <div>
      <button type="button" className={`${classes.name} ellipsis`} onClick={() => goToRun(run.runId)}>
        {run.name}
      </button>
      <Text className="ellipsis" fz="xs" c="dimmed">
        {describeInputs(run, texts)}
      </Text>
      {named !== null && (
        <Text className="ellipsis" fz="xs" c="dimmed" title={[...new Set(run.samples)].join(', ')}>
          {named}
        </Text>
      )}
    </div>
  );
}
