import { Button } from '@mantine/core';
import { IconCpu, IconDeviceDesktopAnalytics } from '@tabler/icons-react';
import { memo } from 'react';
import type { DeviceLive } from '../../electron/contract/index.ts';
import { errorWords } from '../i18n/errors.ts';
import { useTexts } from '../i18n/index.ts';
import type { SpeedSample } from '../state/liveRun.ts';
import classes from './DeviceCard.module.css';
import { partNumber } from './partNumber.ts';
import { ProgressBar } from './ProgressBar.tsx';
import { Sparkline } from './Sparkline.tsx';
import { WorkerBadge } from './StateBadge.tsx';

const NONE = <span className={classes.none}>–</span>;

interface DeviceCardProps {
  device: DeviceLive;
  speeds: readonly SpeedSample[];
  /** Undefined where nothing can be changed, as in a run that has ended. */
  onInclude?: ((device: DeviceLive, included: boolean) => void) | undefined;
}

/** One GPU, or one CPU worker, at work. */
export const DeviceCard = memo(function DeviceCard({ device, speeds, onInclude }: DeviceCardProps) {
  const { t, format, language } = useTexts();
  const { worker } = device;
  const isOut = worker.state === 'excluded' || worker.state === 'switched_off';
  const memoryFraction =
    device.memoryUsedBytes !== null && device.memoryTotalBytes
      ? device.memoryUsedBytes / device.memoryTotalBytes
      : null;
  const title = device.index === null ? device.name : t('device.gpu', { index: device.index });
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
          {device.index !== null && <p className={classes.model}>{device.name}</p>}
        </div>
        <WorkerBadge state={worker.state} />
      </header>

      <div className={classes.speed}>
        <div className={classes.figure}>
          <span className={classes.big}>
            {device.tokensPerSecond === null ? NONE : format.compact(device.tokensPerSecond)}
          </span>
          <span className={classes.unit}>{t('device.tokensPerSecond')}</span>
        </div>
        <div className={classes.figure}>
          <span className={classes.medium}>
            {device.framesPerSecond === null ? NONE : format.compact(device.framesPerSecond)}
          </span>
          <span className={classes.unit}>{t('device.framesPerSecond')}</span>
        </div>
      </div>
      <Sparkline samples={speeds} />

      {device.index !== null && (
        <div className={classes.meters}>
          <Meter
            label={t('device.utilization')}
            fraction={device.utilizationPercent === null ? null : device.utilizationPercent / 100}
            text={device.utilizationPercent === null ? '–' : format.percent(device.utilizationPercent / 100)}
          />
          <Meter
            label={t('device.memory')}
            fraction={memoryFraction}
            text={
              device.memoryUsedBytes === null || device.memoryTotalBytes === null
                ? '–'
                : t('device.memoryOf', {
                    used: format.memory(device.memoryUsedBytes).replace(/\s*GiB$/, ''),
                    total: format.memory(device.memoryTotalBytes),
                  })
            }
          />
          <div className={classes.small}>
            <span>
              {t('device.temperature')}{' '}
              <b>{device.temperatureC === null ? '–' : `${format.integer(device.temperatureC)} °C`}</b>
            </span>
            <span>
              {t('device.power')} <b>{device.powerW === null ? '–' : `${format.integer(device.powerW)} W`}</b>
            </span>
          </div>
        </div>
      )}

      <div className={classes.part}>
        <div className={classes.partText}>
          <span className="ellipsis">
            {worker.state === 'working'
              ? t('device.part', { key: partNumber(worker.shard) })
              : t('device.noPart')}
          </span>
          <span>{t('device.partsDone', { count: device.shardsDone })}</span>
        </div>
        <ProgressBar
          label={t('device.partProgress')}
          fraction={worker.state === 'working' ? (device.shardFraction ?? 0) : 0}
          size="thin"
        />
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

function Meter({ label, fraction, text }: { label: string; fraction: number | null; text: string }) {
  return (
    <div className={classes.meter}>
      <div className={classes.meterText}>
        <span>{label}</span>
        <b>{text}</b>
      </div>
      <ProgressBar label={label} fraction={fraction ?? 0} size="thin" tone="neutral" valueText={text} />
    </div>
  );
}
