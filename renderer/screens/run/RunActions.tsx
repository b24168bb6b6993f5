import { Button, Menu } from '@mantine/core';
import { IconChevronDown, IconPlayerPause, IconPlayerPlay, IconTable } from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { useLiveRun } from '../../state/liveRun.ts';
import { choicesFrom } from '../../state/newRun/choices.ts';
import { addPaths, choose, startOver } from '../../state/newRun/store.ts';
import { go, goToRun, type RunTab } from '../../state/navigation.ts';
import { queuedRuns, useRuns } from '../../state/runs.ts';
import { runStatus } from '../../state/runStatus.ts';
import { useAction } from '../../state/useAction.ts';
import { drainSeconds } from './drainEstimate.ts';
import classes from './RunActions.module.css';

type Order = 'pause' | 'drain' | 'stop' | 'cancel' | 'resume';

/** Fills the New run screen with the inputs and settings of an earlier run. */
export async function prepareAgain(run: RunSummary): Promise<void> {
  startOver();
  choose(choicesFrom(run.request));
  go({ screen: 'new-run' });
  await addPaths(run.plan.inputs.map((input) => input.path));
}

interface RunActionsProps {
  run: RunSummary;
  /** The tab that is looked at: nothing has to lead where one is. */
  tab: RunTab;
}

/** Pause, resume, stop: each says what will be kept. A run that is done leads to its results. */
export function RunActions({ run, tab }: RunActionsProps) {
  const { t, format } = useTexts();
  const [asked, setAsked] = useState<'stop' | 'cancel' | null>(null);
  const { runId } = run;
  const order = useAction(useCallback((what: Order) => engine().runs[what]({ runId }), [runId]));
  const status = runStatus(run);
  const hasNext = useRuns((all) => (all.runs ? queuedRuns(all.runs).length > 0 : false));
  const othersWait = hasNext ? ` ${t('run.othersWait')}` : '';

  // Where a banner says what is the matter, the button to go on stands in it.
  if (status === 'halted' || status === 'interrupted' || status === 'failed') {
    return <AgainButton run={run} />;
  }
  if (status === 'paused' || status === 'cancelled') {
    return (
      <>
        <AgainButton run={run} />
        <Button
          loading={order.busy}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => void order.run('resume')}
        >
          {t('run.resume')}
        </Button>
      </>
    );
  }
  if (status === 'done' || status === 'done_with_failures') {
    return (
      <>
        <AgainButton run={run} />
        {tab !== 'results' && (
          <Button leftSection={<IconTable size={16} aria-hidden />} onClick={() => goToRun(runId, 'results')}>
            {t('run.seeResults')}
          </Button>
        )}
      </>
    );
  }
  if (status === 'queued' || status === 'created') {
    return (
      <Button variant="default" loading={order.busy} onClick={() => void order.run('cancel')}>
        {t('run.leaveQueue')}
      </Button>
    );
  }
  if (status === 'missing' || status === 'finishing') return null;

  const confirm = async () => {
    if (asked && (await order.run(asked))) setAsked(null);
  };
  return (
    <>
      {status === 'running' && (
        <Button
          variant="default"
          loading={order.busy}
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          title={`${t('run.pauseHelp')}${othersWait}`}
          onClick={() => void order.run('pause')}
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
          {status === 'running' && (
            <>
              <Choice
                title={t('run.pause')}
                text={`${t('run.pauseHelp')}${othersWait}`}
                onClick={() => void order.run('pause')}
              />
              <DrainChoice run={run} othersWait={othersWait} onClick={() => void order.run('drain')} />
            </>
          )}
          <Choice
            title={t('run.stop')}
            text={`${t('run.stopHelp')}${othersWait}`}
            onClick={() => setAsked('stop')}
          />
          <Menu.Divider />
          <Choice
            title={t('run.cancel')}
            text={t('run.cancelHelp')}
            destructive
            onClick={() => setAsked('cancel')}
          />
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={asked !== null}
        title={asked === 'cancel' ? t('run.cancelTitle') : t('run.stopTitle')}
        confirmLabel={asked === 'cancel' ? t('run.cancel') : t('run.stop')}
        destructive
        busy={order.busy}
        onConfirm={() => void confirm()}
        onClose={() => setAsked(null)}
      >
        <p>{asked === 'cancel' ? t('run.cancelHelp') : t('run.stopHelp')}</p>
        <KeptFigures format={format.integer} />
      </ConfirmDialog>
    </>
  );
}

function AgainButton({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const again = useAction(prepareAgain);
  return (
    <Button variant="default" loading={again.busy} onClick={() => void again.run(run)}>
      {t('run.again')}
    </Button>
  );
}

function KeptFigures({ format }: { format: (value: number) => string }) {
  const { t } = useTexts();
  const shards = useLiveRun((state) => state.live?.progress.shards ?? null);
  return (
    shards && (
      <p className="muted">{t('run.kept', { done: format(shards.done), inWork: format(shards.inWork) })}</p>
    )
  );
}

interface DrainChoiceProps {
  run: RunSummary;
  othersWait: string;
  onClick: () => void;
}

function DrainChoice({ run, othersWait, onClick }: DrainChoiceProps) {
  const { t, format } = useTexts();
  const devices = useLiveRun((state) => state.live?.devices);
  const seconds = drainSeconds(devices ?? [], run.plan.residuesPerShard);
  const title =
    seconds === null ? t('run.drain') : t('run.drainAbout', { time: format.durationRange(seconds, seconds) });
  return <Choice title={title} text={`${t('run.drainHelp')}${othersWait}`} onClick={onClick} />;
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
      <span className={classes.text}>{text}</span>
    </Menu.Item>
  );
}
