import { Button, Group, Text } from '@mantine/core';
import { IconCpu, IconDeviceDesktopAnalytics } from '@tabler/icons-react';
import { memo, useCallback, useDeferredValue, useMemo } from 'react';
import type { DeviceLive, WorkerState } from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';
import { deviceTitle, isLeftOut, titleOnNode } from '../state/runs/deviceLabels.ts';
import { useErrorTexts, type ErrorTexts } from '../state/engineTexts.ts';
import { SPEED_WINDOW_MS, type SpeedSample } from '../state/runs/liveRun.ts';
import { niceTop } from './charts/axes.ts';
import { TimeCurve } from './charts/TimeCurve.tsx';
import { withPauses } from './charts/timeSeries.ts';
import classes from './DeviceCard.module.css';
import { ProgressBar } from './feedback/ProgressBar.tsx';
import { WorkerBadge } from './feedback/StateBadge.tsx';

type Include = (device: string, included: boolean) => void;

interface DeviceCardProps {
  device: DeviceLive;
  speeds: readonly SpeedSample[];
  /** Null while it is not known. */
  sequencesPerMinute: number | null;
  /** Sequences a minute that a residue a second comes to; 0 while it is not known. */
  perResidue: number;
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
  perResidue,
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
      {!isStopped && <Speed {...{ sequencesPerMinute, speeds, perResidue }} />}
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
      <Text component="h3" fz={15} fw={620} lh={1.4}>
        {title}
      </Text>
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

const NONE = (
  <Text span fw={400} c="dimmed" fz="inherit">
    –
  </Text>
);
const NO_SAMPLES: readonly SpeedSample[] = [];

type SpeedProps = Pick<DeviceCardProps, 'sequencesPerMinute' | 'speeds' | 'perResidue'>;

/** How fast a device is now and was over the last minutes. */
function Speed({ sequencesPerMinute, speeds, perResidue }: SpeedProps) {
  const { t, format } = useTexts();
  return (
    <>
      <Group gap={5} align="baseline" wrap="nowrap">
        <Text span fz={22} fw={650} lh={1.2}>
          {sequencesPerMinute === null ? NONE : format.rate(sequencesPerMinute)}
        </Text>
        <Text span fz="xs" c="dimmed">
          {t('device.sequencesPerMinute')}
        </Text>
      </Group>
      <SpeedCurve speeds={speeds} perResidue={perResidue} />
    </>
  );
}

const CURVE_PX = 64;
const MINUTE_S = 60;
const MINUTES = SPEED_WINDOW_MS / 1000 / MINUTE_S;

/** The last minutes, drawn when the window has nothing more urgent to draw; as a table for screen readers. */
const SpeedCurve = memo(function SpeedCurve({ speeds, perResidue }: Omit<SpeedProps, 'sequencesPerMinute'>) {
  const { t, format } = useTexts();
  const drawn = useDeferredValue(speeds, NO_SAMPLES);
  const points = useMemo(
    () =>
      withPauses(
        drawn.map(({ time, residuesPerSecond }) => ({
          time: time / 1000,
          value: residuesPerSecond * perResidue,
        })),
      ),
    [drawn, perResidue],
  );
  const label = useCallback(
    (speed: number) => t('progress.sequencesPerMinute', { speed: format.rate(speed) }),
    [t, format],
  );
  const end = points.at(-1)?.time ?? 0;
  const begin = end - MINUTES * MINUTE_S;
  const minutes = Array.from({ length: MINUTES + 1 }, (_, ago) =>
    points.findLast(({ time, value }) => value !== null && time <= end - ago * MINUTE_S),
  ).filter((point) => point !== undefined);
  if (points.length < 2 || perResidue === 0) return <div style={{ height: CURVE_PX }} />;
  return (
    <>
      <table className="visually-hidden">
        <caption>{t('throughput.title')}</caption>
        <tbody>
          {[...new Set(minutes)].map(({ time, value }) => (
            <tr key={time}>
              <th scope="row">{format.time(new Date(time * 1000).toISOString())}</th>
              <td>{value === null ? '–' : label(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div aria-hidden style={{ height: CURVE_PX }}>
        <TimeCurve
          small
          beforeEnd
          points={points}
          begin={begin}
          end={end}
          top={niceTop(Math.max(...points.map(({ value }) => value ?? 0)))}
          axisWidth={36}
          tick={format.compact}
          label={label}
        />
      </div>
    </>
  );
});

/** What the driver says of a GPU. */
function Meters({ device }: { device: DeviceLive }) {
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
      <Group justify="space-between" gap={8} mb={3} fz="xs" c="dimmed" wrap="nowrap">
        <span>{label}</span>
        <b>{text}</b>
      </Group>
      <ProgressBar label={label} fraction={fraction ?? 0} size="thin" tone="neutral" valueText={text} />
    </div>
  );
});
