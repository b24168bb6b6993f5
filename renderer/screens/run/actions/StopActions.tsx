import { Button, Menu, Text } from '@mantine/core';
import { IconChevronDown, IconPlayerPause } from '@tabler/icons-react';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { askToDiscard, askToFinishNow } from '../../../components/runQuestions.tsx';
import { mayFinishNow } from '../../../state/runs/runOrders.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { queuedRuns, useRuns } from '../../../state/runs/runs.ts';
import classes from './StopActions.module.css';
import { useRunOrder } from './useRunOrder.ts';

interface StopActionsProps {
  run: RunSummary;
  /** It computes, and is not being brought to rest already. */
  running: boolean;
}

/** The ways to bring a run to rest: each says what will be kept. */
export function StopActions({ run, running }: StopActionsProps) {
  const { t } = useTexts();
  const order = useRunOrder(run.runId);
  const isRead = useLiveRun((state) => state.live?.progress.prepare.finished ?? false);
  const hasNext = useRuns((all) => (all.runs ? queuedRuns(all.runs).length > 0 : false));
  const othersWait = hasNext ? ` ${t('run.othersWait')}` : '';
  return (
    <>
      {running && (
        <Button
          variant="default"
          loading={order.isPending}
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          title={`${t('run.pauseHelp')}${othersWait}`}
          onClick={() => order.mutate('pause')}
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
            onClick={() => order.mutate('cancel')}
          />
          {mayFinishNow(run, isRead) && (
            <Choice
              title={t('run.finishNow')}
              text={t('run.finishNowHelp')}
              onClick={() => askToFinishNow(run.runId, t)}
            />
          )}
          <Menu.Divider />
          <Choice
            title={t('run.discard')}
            text={t('run.discardHelp')}
            destructive
            onClick={() => askToDiscard(run.runId, t)}
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
      <span className={classes.title} data-destructive={destructive}>
        {title}
      </span>
      <Text span display="block" fz="xs" c="dimmed">
        {text}
      </Text>
    </Menu.Item>
  );
}
