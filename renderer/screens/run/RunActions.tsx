import { Button, Group, Menu, Text } from '@mantine/core';
import { IconChevronDown, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useTexts } from '../../i18n/index.ts';
import { useMutation } from '@tanstack/react-query';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { engine } from '../../state/connection.ts';
import { queuedRuns, runStatus, useRuns, mayFinishNow, resumeRun } from '../../state/runs/runs.ts';
import { askToDiscard, askToFinishNow } from '../../components/runActions.tsx';
import { WhileConnected } from '../../components/WhileConnected.tsx';
import { useLiveRun } from '../../state/runs/liveRun.ts';
import { RunMenu } from '../history/RunMenu.tsx';

/** What can be done with a run in its current state. */
export function RunActions({ run }: { run: RunSummary }) {
  return (
    <WhileConnected>
      <Group gap={8}>
        <MainActions run={run} />
        <RunMenu run={run} />
      </Group>
    </WhileConnected>
  );
}

function MainActions({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const leaveQueue = useMutation({ mutationFn: () => engine.runs.cancel({ runId }) });
  const resume = useMutation({ mutationFn: resumeRun });
  const status = runStatus(run);

  // A banner that explains the problem has the resume button in it.
  if (status === 'halted' || status === 'interrupted' || status === 'failed') return null;
  if (status === 'paused' || status === 'cancelled') {
    const isEnough = run.state.phase === 'paused' && run.state.enough !== undefined;
    return (
      !isEnough && (
        <Button
          loading={resume.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => resume.mutate(run)}
        >
          {t('common.continue')}
        </Button>
      )
    );
  }
  if (status === 'queued') {
    return (
      <Button variant="default" loading={leaveQueue.isPending} onClick={() => leaveQueue.mutate()}>
        {t('run.leaveQueue')}
      </Button>
    );
  }
  if (['done', 'done_with_failures', 'missing', 'finishing'].includes(status)) return null;

  return <StopActions run={run} running={status === 'running' || status === 'created'} />;
}

interface StopActionsProps {
  run: RunSummary;
  /** True if the run computes and is not being stopped already. */
  running: boolean;
}

/** The ways to stop a run, each with what will be kept. */
function StopActions({ run, running }: StopActionsProps) {
  const { t } = useTexts();
  const { runId } = run;
  const pause = useMutation({ mutationFn: () => engine.runs.pause({ runId }) });
  const stop = useMutation({ mutationFn: () => engine.runs.cancel({ runId }) });
  const isRead = useLiveRun((state) => state.live?.progress.prepare.finished ?? false);
  const hasNext = useRuns((all) => (all.runs ? queuedRuns(all.runs).length > 0 : false));
  const othersWait = hasNext ? ` ${t('run.othersWait')}` : '';
  return (
    <>
      {running && (
        <Button
          variant="default"
          loading={pause.isPending || stop.isPending}
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          title={`${t('run.pauseHelp')}${othersWait}`}
          onClick={() => pause.mutate()}
        >
          {t('run.pause')}
        </Button>
      )}
      <Menu width={360} position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<IconChevronDown size={16} aria-hidden />}>
            {t('run.stopMenu')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Choice
            title={t('run.stopAndKeep')}
            text={`${t('run.stopAndKeepHelp')}${othersWait}`}
            onClick={() => stop.mutate()}
          />
          {mayFinishNow(run, isRead) && (
            <Choice
              title={t('run.finishNow')}
              text={t('run.finishNowHelp')}
              onClick={() => askToFinishNow(runId, t)}
            />
          )}
          <Menu.Divider />
          <Choice
            title={t('run.discard')}
            text={t('run.discardHelp')}
            destructive
            onClick={() => askToDiscard(runId, t)}
          />
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

interface ChoiceProps {
  title: string;
  text: string;
  destructive?: boolean;
  onClick: () => void;
}

function Choice({ title, text, destructive = false, onClick }: ChoiceProps) {
  return (
    <Menu.Item onClick={onClick}>
      <Text span display="block" fw={560} {...(destructive && { c: 'var(--bad)' })}>
        {title}
      </Text>
      <Text span display="block" fz="xs" c="dimmed">
        {text}
      </Text>
    </Menu.Item>
  );
}
