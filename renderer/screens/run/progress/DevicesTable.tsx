import { Button, Group, Menu, SimpleGrid, Text } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { memo, useMemo } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { Area, AreaChart, XAxis, YAxis } from 'recharts';
import {
  MEASURES,
  measureTexts,
  sequencesPerMinute,
  shareOfRun,
  type DeviceHistory,
  type DeviceLive,
  type Measured,
  type RunSummary,
} from '../../../../electron/contract/index.ts';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { TimeCurve } from '../../../components/charts/TimeCurve.tsx';
import { withPauses } from '../../../components/charts/timeSeries.ts';
import { Banner } from '../../../components/feedback/Banner.tsx';
import { ProgressBar } from '../../../components/feedback/ProgressBar.tsx';
import { StateBadge } from '../../../components/feedback/StateBadge.tsx';
import { Fold } from '../../../components/Fold.tsx';
import { Hint } from '../../../components/Hint.tsx';
import { useTexts, type Texts } from '../../../i18n/index.ts';
import { engine, queries, useConnectionStatus } from '../../../state/connection.ts';
import { useErrorTexts } from '../../../state/engineTexts.ts';
import { formatNamed, useExport } from '../../../state/results/useExport.ts';
import {
  deviceTitle,
  isLeftOut,
  useDeviceLabels,
  useNumberedDevices,
} from '../../../state/runs/deviceLabels.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { sayError } from '../../../state/say.ts';
import { curvesEvery, useOnceMoreAtEnd } from './askingAgain.ts';
import classes from './DevicesTable.module.css';

/** How each device did over the whole run, available after its end too. */
export function useDeviceHistory(run: RunSummary): readonly DeviceHistory[] {
  const history = useQuery(
    queries.runs.deviceHistory.queryOptions({
      input: { runId: run.runId },
      refetchInterval: () => isAtWork(run) && curvesEvery(run.createdAt),
    }),
  );
  useOnceMoreAtEnd(isAtWork(run), history.refetch);
  return useMemo(() => (history.data ?? []).filter(({ points }) => points.length > 1), [history.data]);
}

/** A line for each device: what it is doing, and its speed over the run. */
export function DevicesTable({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const numbered = useNumberedDevices();
  const history = useDeviceHistory(run);
  const atWork = isAtWork(run);
  // After the end of a run, only devices that did something or that need attention are shown.
  const inTrouble = useLiveRun(
    useShallow(
      (state) =>
        state.live?.devices.filter(({ worker }) => worker.state === 'switched_off').map(({ id }) => id) ?? [],
    ),
  );
  const isGpu = useLiveRun((state) => state.live?.devices.some(({ index }) => index !== null) ?? false);
  const measures = isGpu ? MEASURES : (['memory'] as const);
  const recorded = history.map(({ id }) => id);
  const shown = new Set(
    atWork ? [...numbered.map(({ id }) => id), ...recorded] : [...recorded, ...inTrouble],
  );
  if (shown.size === 0) return null;
  const heads = ['state', 'share', 'parts', atWork ? 'speed' : 'busy', 'overRun', ...measures] as const;
  const scale = speedScale(history);
  return (
    <section aria-labelledby="devices-title">
      <Group justify="space-between" mb={4} mih={28}>
        <Text component="h2" fz="md" fw={620} id="devices-title">
          {t('run.devices')}
        </Text>
        {atWork && <DevicesMenu runId={run.runId} />}
      </Group>
      <div className={classes.scroller} tabIndex={0} role="group" aria-labelledby="devices-title">
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t('files.column.device')}</th>
              {heads.map((head) => (
                <Hint key={head} label={t(`devices.hint.${head}`)}>
                  <th scope="col" data-number={NUMBERS.has(head)}>
                    {t(`devices.${head}`)}
                  </th>
                </Hint>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...shown].map((id) => (
              <DeviceRow
                key={id}
                id={id}
                past={history.find((one) => one.id === id)}
                run={run}
                measures={measures}
                scale={scale}
                columns={heads.length + 1}
              />
            ))}
          </tbody>
        </table>
      </div>
      {history.length > 0 && <Curves run={run} history={history} />}
    </section>
  );
}

const NUMBERS: ReadonlySet<string> = new Set(['parts', 'speed', 'busy', ...MEASURES]);

interface DeviceRowProps {
  id: string;
  past: DeviceHistory | undefined;
  run: RunSummary;
  measures: readonly (typeof MEASURES)[number][];
  scale: SpeedScale;
  columns: number;
}

/** The numbers change four times a second while the device computes; after the run they cover the whole run. */
const DeviceRow = memo(function DeviceRow({ id, past, run, measures, scale, columns }: DeviceRowProps) {
  const texts = useTexts();
  const { t, format } = texts;
  const label = useDeviceLabels();
  const errorTexts = useErrorTexts();
  const device = useLiveRun((state) => state.live?.devices.find((candidate) => candidate.id === id));
  const perMinute = useLiveRun((state) =>
    sequencesPerMinute(device?.residuesPerSecond ?? null, state.live?.progress),
  );
  const share = useLiveRun(({ live }) => (device && live ? shareOfRun(device, live) : null));
  const atWork = isAtWork(run);
  const worker = device?.worker;
  const isStopped = !atWork || worker === undefined || worker.state === 'stopped';
  const error =
    worker?.state === 'restarting' || worker?.state === 'switched_off' ? errorTexts(worker.error) : null;
  const notes = [
    ...(error === null
      ? []
      : [
          worker?.state === 'restarting'
            ? `${t('device.restarts')} ${error.cause ?? ''}`
            : [`${error.title}.`, error.cause, error.next].filter(Boolean).join(' '),
        ]),
    ...pastNotes(past, label, texts),
  ];
  const state = worker?.state ?? 'stopped';
  const measured = device && !isStopped ? device : past && overRun(past, device);
  const figures: Partial<Record<(typeof MEASURES)[number], string | null>> = measured
    ? measureTexts(measured, { ...format, of: (part, whole) => t('common.of', { part, whole }) })
    : {};
  const title = label(id);
  return (
    <>
      <tr data-out={device !== undefined && isLeftOut(device)}>
        <th scope="row">
          {title} <span className="muted">{device?.name}</span>
        </th>
        <td>
          <StateBadge
            state={`deviceState.${state === 'stopped' && run.state.phase === 'done' ? 'finished' : state}`}
          />
        </td>
        <td>
          <span className={classes.share}>
            <ProgressBar
              label={t('devices.shareOf', { device: title })}
              fraction={share ?? 0}
              tone={atWork ? 'active' : 'neutral'}
            />
            {share === null ? '–' : format.percent(share)}
          </span>
        </td>
        <td data-number aria-label={t('device.partsDone', { count: device?.partsDone ?? 0 })}>
          {device ? format.integer(device.partsDone) : '–'}
        </td>
        {atWork ? (
          <td data-number>{isStopped || perMinute === null ? '–' : format.rate(perMinute)}</td>
        ) : (
          <td data-number title={past?.energyWh ? energyText(past.energyWh, texts) : undefined}>
            {past === undefined || past.busyFraction === null ? '–' : format.percent(past.busyFraction)}
          </td>
        )}
        <td>{past && <SpeedCurve past={past} scale={scale} />}</td>
        {measures.map((measure) => (
          <td key={measure} data-number>
            {figures[measure] ?? '–'}
          </td>
        ))}
      </tr>
      {notes.map((note) => (
        <tr key={note} className={classes.note}>
          <td colSpan={columns}>
            <Banner bare tone="warn">
              {note}
            </Banner>
          </td>
        </tr>
      ))}
    </>
  );
});

/** Takes devices of this computer out of a run at work and in again. On a cluster, the task that computes a share decides on its devices. */
function DevicesMenu({ runId }: { runId: string }) {
  const { t } = useTexts();
  const isLost = useConnectionStatus() === 'lost';
  const devices = useNumberedDevices().filter(({ place }) => place === null);
  const out = useLiveRun(
    useShallow((state) => state.live?.devices.filter(isLeftOut).map(({ id }) => id) ?? []),
  );
  if (devices.length === 0) return null;
  return (
    <Menu position="bottom-end" disabled={isLost}>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="default"
          disabled={isLost}
          rightSection={<IconChevronDown size={16} aria-hidden />}
        >
          {t('devices.choose')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        {devices.map((device) => (
          <Menu.CheckboxItem
            key={device.id}
            checked={!out.includes(device.id)}
            onChange={(included) =>
              void engine.runs.includeDevice({ runId, device: device.id, included }).catch(sayError)
            }
          >
            {deviceTitle(device, t)}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** Means and peaks over the run. */
function overRun(past: DeviceHistory, device: DeviceLive | undefined): Measured {
  const temperatures = past.points.map(({ temperatureC }) => temperatureC).filter((each) => each !== null);
  return {
    utilizationPercent: past.utilizationMeanPercent,
    memoryUsedBytes: past.memoryPeakBytes,
    memoryTotalBytes: device?.memoryTotalBytes ?? null,
    temperatureC: temperatures.length === 0 ? null : Math.max(...temperatures),
    powerW: past.powerMeanW,
  };
}

/** At this temperature graphics cards start to slow themselves down. */
const HOT_C = 85;

function pastNotes(
  past: DeviceHistory | undefined,
  label: (id: string) => string,
  { t, format }: Texts,
): string[] {
  if (!past) return [];
  const { slowerThan, keptBusy, points } = past;
  const isHot = points.some(({ temperatureC }) => (temperatureC ?? 0) >= HOT_C);
  if (slowerThan)
    return [
      t(isHot ? 'deviceHistory.slowHot' : 'deviceHistory.slow', {
        percent: format.percent(slowerThan.percent / 100),
        other: label(slowerThan.id),
      }),
    ];
  return keptBusy === false ? [t('deviceHistory.oftenIdle')] : [];
}

const energyText = (wattHours: number, { t, format }: Texts) =>
  t('deviceHistory.energy', {
    energy: wattHours >= 1000 ? `${format.decimal(wattHours / 1000)} kWh` : `${format.integer(wattHours)} Wh`,
  });

/** The common scale of adjacent curves: the time of the run, and the highest speed of all devices. */
interface SpeedScale {
  readonly begin: number;
  readonly end: number;
  readonly top: number;
}

const speedScale = (history: readonly DeviceHistory[]): SpeedScale => ({
  ...spanOf(history),
  top: Math.max(1, ...history.flatMap(({ points }) => points.map((point) => point.residuesPerSecond ?? 0))),
});

const spanOf = (history: readonly DeviceHistory[]) => ({
  begin: Math.min(...history.map(({ points }) => points[0]?.time ?? 0)),
  end: Math.max(...history.map(({ points }) => points.at(-1)?.time ?? 0)),
});

const CURVE = { width: 120, height: 20 };

/** The speed over the whole run, with a gap wherever it was at rest. The curves below describe the same in text. */
const SpeedCurve = memo(function SpeedCurve({ past, scale }: { past: DeviceHistory; scale: SpeedScale }) {
  const points = useMemo(
    () => withPauses(past.points.map(({ time, residuesPerSecond }) => ({ time, value: residuesPerSecond }))),
    [past],
  );
  return (
    <div className={classes.curve} aria-hidden>
      <AreaChart {...CURVE} data={points} margin={NO_MARGIN} accessibilityLayer={false}>
        <XAxis hide type="number" dataKey="time" domain={[scale.begin, scale.end]} />
        <YAxis hide domain={[0, scale.top]} />
        <Area
          type="linear"
          dataKey="value"
          stroke="var(--text-muted)"
          fill="var(--text-muted)"
          fillOpacity={0.12}
          isAnimationActive={false}
        />
      </AreaChart>
    </div>
  );
});
const NO_MARGIN = { top: 1, right: 0, bottom: 0, left: 0 };

type Curve = 'utilizationPercent' | 'memoryUsedBytes' | 'powerW' | 'temperatureC';

const CURVES: readonly Curve[] = ['utilizationPercent', 'memoryUsedBytes', 'powerW', 'temperatureC'];
const LABELS = {
  utilizationPercent: 'devices.load',
  memoryUsedBytes: 'devices.memory',
  powerW: 'devices.power',
  temperatureC: 'devices.temperature',
} as const;
/** Measures with a natural maximum have the same scale in all runs. */
const TOPS: Partial<Record<Curve, number>> = { utilizationPercent: 100, temperatureC: 100 };
const CURVE_PX = 76;

/** The sensor readings of each device over the run, folded away, for whoever maintains the computer. */
function Curves({ run, history }: { run: RunSummary; history: readonly DeviceHistory[] }) {
  const { t } = useTexts();
  const { write } = useExport(run);
  const span = useMemo(() => spanOf(history), [history]);
  const measures = useMemo(() => measuresOf(history), [history]);
  return (
    <Fold title={t('deviceHistory.title')}>
      <Button
        mb={8}
        size="compact-sm"
        variant="default"
        loading={write.isPending}
        onClick={() =>
          void formatNamed('devices')
            .then((format) => write.mutateAsync({ format, filter: {} }))
            .catch(sayError)
        }
      >
        {t('deviceHistory.save')}
      </Button>
      {history.map((device) => (
        <DeviceCurves key={device.id} device={device} span={span} measures={measures} />
      ))}
    </Fold>
  );
}

const measuresOf = (history: readonly DeviceHistory[]) =>
  CURVES.filter((measure) =>
    history.some(({ points }) => points.some((point) => point[measure] !== null)),
  ).map((measure) => ({
    measure,
    top:
      TOPS[measure] ??
      Math.max(1, ...history.flatMap(({ points }) => points.map((point) => point[measure] ?? 0))),
  }));

interface DeviceCurvesProps {
  device: DeviceHistory;
  span: { begin: number; end: number };
  measures: readonly { measure: Curve; top: number }[];
}

/** The measures of one device, side by side, drawn again only with new points: the run itself changes four times a second. */
const DeviceCurves = memo(function DeviceCurves({ device, span, measures }: DeviceCurvesProps) {
  const texts = useTexts();
  const { t, format } = texts;
  const name = useDeviceLabels()(device.id);
  const write = (measure: Curve, value: number): string => {
    if (measure === 'utilizationPercent') return format.percent(value / 100);
    if (measure === 'memoryUsedBytes') return format.memory(value);
    return `${format.integer(value)} ${measure === 'powerW' ? 'W' : '°C'}`;
  };
  return (
    <AccessibleChart
      title={name}
      summary={measures.map(({ measure }) => t(LABELS[measure])).join(', ')}
      height={CURVE_PX + 20}
      grows
      table={() => ({
        columns: [t('throughput.time'), ...measures.map(({ measure }) => t(LABELS[measure]))],
        rows: device.points.map((point) => [
          format.time(new Date(point.time * 1000).toISOString()),
          ...measures.map(({ measure }) => {
            const value = point[measure];
            return value === null ? '–' : write(measure, value);
          }),
        ]),
      })}
    >
      <Text fz="sm" fw={560}>
        {name}
      </Text>
      <SimpleGrid minColWidth="min(170px, 100%)" autoFlow="auto-fit" spacing={18} verticalSpacing={10}>
        {measures.map(({ measure, top }) => (
          <div key={measure}>
            <Group fz="xs" c="dimmed">
              {t(LABELS[measure])}
            </Group>
            <div style={{ height: CURVE_PX }}>
              <TimeCurve
                small
                points={withPauses(
                  device.points.map((point) => ({ time: point.time, value: point[measure] })),
                )}
                {...span}
                top={top}
                axisWidth={54}
                tick={(value) => write(measure, value)}
                label={(value) => write(measure, value)}
              />
            </div>
          </div>
        ))}
      </SimpleGrid>
    </AccessibleChart>
  );
});
