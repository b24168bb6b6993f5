import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, useMemo } from 'react';
import type { DeviceHistory, RunSummary } from '../../../../electron/contract/index.ts';
import { Card } from '../../../components/Card.tsx';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { TimeCurve } from '../../../components/charts/TimeCurve.tsx';
import { withPauses } from '../../../components/charts/timeSeries.ts';
import { useTexts, type Texts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { formatNamed, useExport } from '../../../state/results/useExport.ts';
import { sayError } from '../../../state/say.ts';
import { useDeviceLabels } from '../../../state/runs/deviceLabels.ts';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { curvesEvery, useOnceMoreAtEnd } from './askingAgain.ts';
import classes from './DeviceHistoryCard.module.css';

type Measure = 'utilizationPercent' | 'memoryUsedBytes' | 'powerW' | 'temperatureC';

const MEASURES: readonly Measure[] = ['utilizationPercent', 'memoryUsedBytes', 'powerW', 'temperatureC'];
const LABELS = {
  utilizationPercent: 'device.utilization',
  memoryUsedBytes: 'device.memory',
  powerW: 'device.power',
  temperatureC: 'device.temperature',
} as const;
/** Measures with a natural upper end have the same scale in all runs. */
const TOPS: Partial<Record<Measure, number>> = { utilizationPercent: 100, temperatureC: 100 };

const CURVE_PX = 76;

/** How each device did over the whole run, also after its end: curves on one scale, and what they come to. */
export function DeviceHistoryCard({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t } = texts;
  const history = useQuery(
    queries.runs.deviceHistory.queryOptions({
      input: { runId: run.runId },
      refetchInterval: () => isAtWork(run) && curvesEvery(run.createdAt),
    }),
  );
  useOnceMoreAtEnd(isAtWork(run), history.refetch);
  const { write } = useExport(run);
  const { devices, span, measures } = useMemo(() => curvesOf(history.data ?? []), [history.data]);
  if (devices.length === 0) return null;
  return (
    <Card
      title={t('deviceHistory.title')}
      aside={
        <>
          <span>{t('deviceHistory.hint')}</span>
          <Button
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
        </>
      }
    >
      <Stack component="ul" className="plain-list" gap={14}>
        {devices.map((device) => (
          <li key={device.id} className={classes.device}>
            <Sums device={device} texts={texts} />
            <Curves device={device} span={span} measures={measures} />
          </li>
        ))}
      </Stack>
    </Card>
  );
}

/** What there is to draw: devices, the time that their curves share, and the scale of each measure. */
function curvesOf(history: readonly DeviceHistory[]) {
  const devices = history.filter((device) => device.points.length > 1);
  return {
    devices,
    span: {
      begin: Math.min(...devices.map((device) => device.points[0]?.time ?? 0)),
      end: Math.max(...devices.map((device) => device.points.at(-1)?.time ?? 0)),
    },
    measures: MEASURES.filter((measure) =>
      devices.some((device) => device.points.some((point) => point[measure] !== null)),
    ).map((measure) => ({ measure, top: TOPS[measure] ?? topOf(devices, measure) })),
  };
}

interface CurvesProps {
  device: DeviceHistory;
  span: { begin: number; end: number };
  measures: readonly { measure: Measure; top: number }[];
}

/** The measures of one device side by side. */
const Curves = memo(function Curves({ device, span, measures }: CurvesProps) {
  const texts = useTexts();
  const { t, format } = texts;
  const name = useDeviceLabels()(device.id);
  const curves = useMemo(
    () =>
      measures.map(({ measure, top }) => ({
        measure,
        top,
        points: withPauses(device.points.map((point) => ({ time: point.time, value: point[measure] }))),
        label: (value: number) => valueText(measure, value, texts),
      })),
    [device, measures, texts],
  );
  return (
    <AccessibleChart
      title={`${t('deviceHistory.title')}: ${name}`}
      summary={measures
        .map(({ measure }) => `${t(LABELS[measure])}: ${sumText(device, measure, texts)}`)
        .join('; ')}
      height={CURVE_PX + 20}
      grows
      table={() => ({
        columns: [t('throughput.time'), ...measures.map(({ measure }) => t(LABELS[measure]))],
        rows: device.points.map((point) => [
          format.time(new Date(point.time * 1000).toISOString()),
          ...measures.map(({ measure }) => {
            const value = point[measure];
            return value === null ? '–' : valueText(measure, value, texts);
          }),
        ]),
      })}
    >
      <SimpleGrid minColWidth="min(170px, 100%)" autoFlow="auto-fit" spacing={18} verticalSpacing={10}>
        {curves.map(({ measure, top, points, label }) => (
          <div key={measure}>
            <Group justify="space-between" gap={8} fz="xs" c="dimmed" wrap="nowrap">
              <span>{t(LABELS[measure])}</span>
              <Text span fz="inherit" fw={560} c="var(--text)">
                {sumText(device, measure, texts)}
              </Text>
            </Group>
            <div style={{ height: CURVE_PX }}>
              <TimeCurve
                small
                points={points}
                {...span}
                top={top}
                axisWidth={54}
                tick={label}
                label={label}
              />
            </div>
          </div>
        ))}
      </SimpleGrid>
    </AccessibleChart>
  );
});

function Sums({ device, texts: { t, format } }: { device: DeviceHistory; texts: Texts }) {
  const label = useDeviceLabels();
  const { busyFraction, keptBusy, energyWh, slowerThan } = device;
  return (
    <div>
      <Text component="h3" fz="md" fw={620}>
        {label(device.id)}
      </Text>
      <Text size="xs" c="dimmed">
        {busyFraction !== null && t('deviceHistory.busy', { percent: format.percent(busyFraction) })}
      </Text>
      {keptBusy === false && (
        <Text mt={4} px={8} py={4} bdrs={6} fz="xs" bg="var(--warn-soft)">
          {t('deviceHistory.oftenIdle')}
        </Text>
      )}
      {energyWh !== null && (
        <Text size="xs" c="dimmed">
          {t('deviceHistory.energy', { energy: energyText(energyWh, format) })}
        </Text>
      )}
      {slowerThan && (
        <Text mt={4} px={8} py={4} bdrs={6} fz="xs" bg="var(--warn-soft)">
          {t(isHot(device) ? 'deviceHistory.slowHot' : 'deviceHistory.slow', {
            percent: format.integer(slowerThan.percent),
            other: label(slowerThan.id),
          })}
        </Text>
      )}
    </div>
  );
}

/** From here on graphics cards slow themselves down. */
const HOT_C = 85;
const isHot = ({ points }: DeviceHistory) => points.some(({ temperatureC }) => (temperatureC ?? 0) >= HOT_C);

const energyText = (wattHours: number, format: Texts['format']) =>
  wattHours >= 1000 ? `${format.decimal(wattHours / 1000)} kWh` : `${format.integer(wattHours)} Wh`;

function topOf(devices: readonly DeviceHistory[], measure: Measure): number {
  return Math.max(1, ...devices.flatMap(({ points }) => points.map((point) => point[measure] ?? 0)));
}

function valueText(measure: Measure, value: number, { format }: Texts): string {
  switch (measure) {
    case 'utilizationPercent':
      return format.percent(value / 100);
    case 'memoryUsedBytes':
      return format.memory(value);
    case 'powerW':
      return `${format.integer(value)} W`;
    case 'temperatureC':
      return `${format.integer(value)} °C`;
  }
}

/** What a measure comes to over the run: its mean or its peak. */
function sumText(device: DeviceHistory, measure: Measure, texts: Texts): string {
  const values = device.points.map((point) => point[measure]).filter((value) => value !== null);
  if (values.length === 0) return '–';
  if (measure === 'memoryUsedBytes' || measure === 'temperatureC')
    return texts.t('deviceHistory.peak', { value: valueText(measure, Math.max(...values), texts) });
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return texts.t('deviceHistory.mean', { value: valueText(measure, mean, texts) });
}
