import { Button } from '@mantine/core';
import { IconCpu, IconDeviceDesktopAnalytics } from '@tabler/icons-react';
import { memo } from 'react';
import type { DeviceLive } from '../../electron/contract/index.ts';
import { deviceTitle } from '../i18n/deviceTitle.ts';
import { errorWords } from '../i18n/errors.ts';
import { useTexts } from '../i18n/index.ts';
import type { SpeedSample } from '../state/liveRun.ts';
import classes from './DeviceCard.module.css';
import { Meters, Speed } from './DeviceMeters.tsx';
import { partNumber } from './partNumber.ts';
import { ProgressBar } from './ProgressBar.tsx';
import { WorkerBadge } from './StateBadge.tsx';

interface DeviceCardProps {
  device: DeviceLive;
  speeds: readonly SpeedSample[];
  /** Undefined where nothing can be changed, as in a run that has ended. */
  onInclude?: ((device: DeviceLive, included: boolean) => void) | undefined;
}

/** One GPU, or one CPU worker, at work. */
export const DeviceCard = memo(function DeviceCard({ device, speeds, onInclude }: DeviceCardProps) {
  const { t, language } = useTexts();
  const { worker } = device;
  const isOut = worker.state === 'excluded' || worker.state === 'switched_off';
  const title = deviceTitle(device, t);
  const error = worker.state === 'restarting' || worker.state === 'switched_off' ? worker.error : null;
  return (
    <article className={classes.card} aria-label={`${title} ${device.name}`} data-out={isOut}>
      <header className={classes.head}>
        {device.index === null ? (
          <IconCpu size={18} aria-hidden />
        ) : (
          <IconDeviceDesktopAnalytics size={18} aria-hidden />
        )}
        <div className={classes.names}>
          <h3 className={classes.name}>{title}</h3>
          <p className={classes.model}>{device.name}</p>
        </div>
        <WorkerBadge state={worker.state} />
      </header>

      {worker.state !== 'stopped' && <Speed device={device} speeds={speeds} />}
      {worker.state !== 'stopped' && device.index !== null && <Meters device={device} />}

      <div className={classes.part}>
        <div className={classes.partText}>
          <span className="ellipsis">
            {worker.state === 'working'
              ? t('device.part', { key: partNumber(worker.shard) })
              : t('device.noPart')}
          </span>
          <span>{t('device.partsDone', { count: device.shardsDone })}</span>
        </div>
        {worker.state !== 'stopped' && (
          <ProgressBar
            label={t('device.partProgress')}
            fraction={worker.state === 'working' ? (device.shardFraction ?? 0) : 0}
            size="thin"
          />
        )}
      </div>

      {error && (
        <p className={classes.error}>
          <b>{errorWords(error, language).title}.</b> {error.cause} {errorWords(error, language).next}
        </p>
      )}
      {onInclude && (
        <Button
          variant="default"
          size="compact-sm"
          className={classes.button ?? ''}
          onClick={() => onInclude(device, isOut)}
        >
          {isOut ? t('device.include') : t('device.exclude')}
          <span className="visually-hidden">{` ${title}`}</span>
        </Button>
      )}
    </article>
  );
});
