import { memo } from 'react';
import type { DeviceLive } from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';
import type { SpeedSample } from '../state/runs/liveRun.ts';
import classes from './DeviceCard.module.css';
import { ProgressBar } from './feedback/ProgressBar.tsx';
import { Sparkline } from './charts/Sparkline.tsx';

const NONE = <span className={classes.none}>–</span>;

interface SpeedProps {
  /** Null while it is not known. */
  sequencesPerMinute: number | null;
  speeds: readonly SpeedSample[];
}

/** How fast a device is now, and was over the last minutes. */
export function Speed({ sequencesPerMinute, speeds }: SpeedProps) {
  const { t, format } = useTexts();
  return (
    <>
      <div className={classes.figure}>
        <span className={classes.big}>
          {sequencesPerMinute === null ? NONE : format.rate(sequencesPerMinute)}
        </span>
        <span className={classes.unit}>{t('device.sequencesPerMinute')}</span>
      </div>
      <Sparkline samples={speeds} />
    </>
  );
}

/** What the driver says of a GPU. */
export function Meters({ device }: { device: DeviceLive }) {
  const { t, format } = useTexts();
  const { memoryUsedBytes, memoryTotalBytes, utilizationPercent, temperatureC, powerW } = device;
  const load = utilizationPercent === null ? null : utilizationPercent / 100;
  const hasMemory = memoryUsedBytes !== null && memoryTotalBytes !== null && memoryTotalBytes > 0;
  return (
    <div className={classes.meters}>
      <Meter
        label={t('device.utilization')}
        fraction={load}
        text={load === null ? '–' : format.percent(load)}
      />
      <Meter
        label={t('device.memory')}
        fraction={hasMemory ? memoryUsedBytes / memoryTotalBytes : null}
        text={
          hasMemory
            ? t('device.memoryOf', {
                used: format.memory(memoryUsedBytes).replace(/\s*GiB$/, ''),
                total: format.memory(memoryTotalBytes),
              })
            : '–'
        }
      />
      <div className={classes.small}>
        <span>
          {t('device.temperature')}{' '}
          <b>{temperatureC === null ? '–' : `${format.integer(temperatureC)} °C`}</b>
        </span>
        <span>
          {t('device.power')} <b>{powerW === null ? '–' : `${format.integer(powerW)} W`}</b>
        </span>
      </div>
    </div>
  );
}

interface MeterProps {
  label: string;
  fraction: number | null;
  text: string;
}

const Meter = memo(function Meter({ label, fraction, text }: MeterProps) {
  return (
    <div>
      <div className={classes.meterText}>
        <span>{label}</span>
        <b>{text}</b>
      </div>
      <ProgressBar label={label} fraction={fraction ?? 0} size="thin" tone="neutral" valueText={text} />
    </div>
  );
});
