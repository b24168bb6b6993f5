import { Button } from '@mantine/core';
import { IconCpu, IconDeviceDesktopAnalytics } from '@tabler/icons-react';
import { memo } from 'react';
import type { DeviceLive, WorkerState } from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';
import { deviceTitle, isLeftOut, titleOnNode } from '../state/runs/deviceLabels.ts';
import { useErrorTexts, type ErrorTexts } from '../state/engineTexts.ts';
import type { SpeedSample } from '../state/runs/liveRun.ts';
import classes from './DeviceCard.module.css';
import { Meters, Speed } from './DeviceMeters.tsx';
import { WorkerBadge } from './feedback/StateBadge.tsx';

type Include = (device: string, included: boolean) => void;

interface DeviceCardProps {
  device: DeviceLive;
  speeds: readonly SpeedSample[];
  /** Null while it is not known. */
  sequencesPerMinute: number | null;
  /** Undefined where nothing can be changed, as in a run that has ended. */
  onInclude?: Include | undefined;
  /** The run is done: whoever has stopped has finished. */
  finished?: boolean;
}

/**
 * One GPU, or one CPU worker, at work. Its numbers change four times a second; what stays as it is in between, with its
 * icons and its button, is drawn apart from them.
 */
export const DeviceCard = memo(function DeviceCard({
  device,
  speeds,
  sequencesPerMinute,
  onInclude,
  finished = false,
}: DeviceCardProps) {
  const { t } = useTexts();
  const errorTexts = useErrorTexts();
  const { worker } = device;
  const isOut = isLeftOut(device);
  const isStopped = worker.state === 'stopped';
  const title = deviceTitle(device, t);
  const error = worker.state === 'restarting' || worker.state === 'switched_off' ? worker.error : null;
  return (
    <article className={classes.card} aria-label={`${title} ${device.name}`} data-out={isOut}>
      <Head
        title={titleOnNode(device, t)}
        name={device.name}
        isGpu={device.index !== null}
        state={worker.state}
        finished={finished}
      />
      {!isStopped && <Speed sequencesPerMinute={sequencesPerMinute} speeds={speeds} />}
      {!isStopped && device.index !== null && <Meters device={device} />}
      {error && <Trouble texts={errorTexts(error)} restarts={worker.state === 'restarting'} />}
      {onInclude && <IncludeButton device={device.id} title={title} isOut={isOut} onInclude={onInclude} />}
    </article>
  );
});

interface HeadProps {
  title: string;
  name: string;
  isGpu: boolean;
  state: WorkerState['state'];
  finished: boolean;
}

const Head = memo(function Head({ title, name, isGpu, state, finished }: HeadProps) {
  const Icon = isGpu ? IconDeviceDesktopAnalytics : IconCpu;
  return (
    <header className={classes.head}>
      <Icon size={18} aria-hidden />
      <h3 className={classes.name}>{title}</h3>
      <WorkerBadge state={state} finished={finished} />
      <p className={classes.model} title={name}>
        {name}
      </p>
    </header>
  );
});

/** What has happened to it, and whether anybody has to do something about it. */
function Trouble({ texts: { title, cause, next }, restarts }: { texts: ErrorTexts; restarts: boolean }) {
  const { t } = useTexts();
  return restarts ? (
    <p className={classes.warning}>
      {t('device.restarts')} {cause}
    </p>
  ) : (
    <p className={classes.error}>
      <b>{title}.</b> {cause} {next}
    </p>
  );
}

interface IncludeButtonProps {
  device: string;
  title: string;
  isOut: boolean;
  onInclude: Include;
}

const IncludeButton = memo(function IncludeButton({ device, title, isOut, onInclude }: IncludeButtonProps) {
  const { t } = useTexts();
  return (
    <Button
      variant="default"
      size="compact-sm"
      className={classes.button ?? ''}
      onClick={() => onInclude(device, isOut)}
    >
      {isOut ? t('device.include') : t('device.exclude')}
      <span className="visually-hidden">{` ${title}`}</span>
    </Button>
  );
});
