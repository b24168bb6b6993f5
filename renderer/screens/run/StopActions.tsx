import { Button, Menu } from '@mantine/core';
import { IconChevronDown, IconPlayerPause } from '@tabler/icons-react';
import { useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useLiveRun } from '../../state/liveRun.ts';
import { queuedRuns, useRuns } from '../../state/runs.ts';
import { drainSeconds } from './drainEstimate.ts';
import classes from './StopActions.module.css';
import { useRunOrder } from './useRunOrder.ts';

interface StopActionsProps {
  run: RunSummary;
  /** It computes, and is not being brought to rest already. */
  running: boolean;
}

/** The ways to bring a run to rest: each says what will be kept. */
export function StopActions({ run, running }: StopActionsProps) {
  const { t, format } = useTexts();
  const [asked, setAsked] = useState<'stop' | 'cancel' | null>(null);
  const order = useRunOrder(run.runId);
  const hasNext = useRuns((all) => (all.runs ? queuedRuns(all.runs).length > 0 : false));
  const othersWait = hasNext ? ` ${t('run.othersWait')}` : '';
  const confirm = async () => {
    if (asked && (await order.run(asked))) setAsked(null);
  };
  return (
    <>
      {running && (
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
          {running && (
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

function KeptFigures({ format }: { format: (value: number) => string }) {
  const { t } = useTexts();
  const parts = useLiveRun((state) => state.live?.progress.parts ?? null);
  return (
    parts && (
      <p className="muted">{t('run.kept', { done: format(parts.done), inWork: format(parts.inWork) })}</p>
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
  const seconds = drainSeconds(devices ?? [], run.plan.residuesPerPart);
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
