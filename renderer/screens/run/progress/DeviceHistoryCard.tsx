import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { DeviceHistory, RunSummary } from '../../../../electron/contract/index.ts';
import { Card } from '../../../components/Card.tsx';
import { SmallMultiple } from '../../../components/charts/SmallMultiple.tsx';
import { useTexts, type Texts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { useExport } from '../../../state/results/useExport.ts';
import { useDeviceLabels } from '../../../state/runs/deviceLabels.ts';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { curvesEvery } from './curvesEvery.ts';
import classes from './DeviceHistoryCard.module.css';
import { useOnceMoreAtEnd } from './useOnceMoreAtEnd.ts';

type Measure = 'utilizationPercent' | 'memoryUsedBytes' | 'powerW' | 'temperatureC';

const MEASURES: readonly Measure[] = ['utilizationPercent', 'memoryUsedBytes', 'powerW', 'temperatureC'];
const LABELS = {
  utilizationPercent: 'device.utilization',
  memoryUsedBytes: 'device.memory',
  powerW: 'device.power',
  temperatureC: 'device.temperature',
} as const;
/** Where a measure has a natural top, all devices and runs share it. */
const TOPS: Partial<Record<Measure, number>> = { utilizationPercent: 100, temperatureC: 100 };

/** How each device did over the whole run, also after its end: small curves on one scale, and what they come to. */
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
  const devices = (history.data ?? []).filter((device) => device.points.length > 1);
  if (devices.length === 0) return null;
  const shown = MEASURES.filter((measure) =>
    devices.some((device) => device.points.some((point) => point[measure] !== null)),
  );
  const begin = Math.min(...devices.map((device) => device.points[0]?.time ?? 0));
  const end = Math.max(...devices.map((device) => device.points.at(-1)?.time ?? 0));
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
            onClick={() => write.mutate({ format: 'devices', filter: {} })}
          >
            {t('deviceHistory.save')}
          </Button>
        </>
      }
    >
      <ul className={classes.list}>
        {devices.map((device) => (
          <li key={device.id} className={classes.device}>
            <Sums device={device} texts={texts} />
            <div className={classes.curves}>
              {shown.map((measure) => (
                <SmallMultiple
                  key={measure}
                  label={t(LABELS[measure])}
                  text={peakText(device, measure, texts)}
                  points={device.points.map((point) => ({ time: point.time, value: point[measure] }))}
                  begin={begin}
                  end={end}
                  top={TOPS[measure] ?? topOf(devices, measure)}
                />
              ))}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Sums({ device, texts: { t, format } }: { device: DeviceHistory; texts: Texts }) {
  const label = useDeviceLabels();
  const { busyFraction, keptBusy, energyWh, slowerThan } = device;
  return (
    <div>
      <h3 className={classes.name}>{label(device.id)}</h3>
      <p className={classes.sum}>
        {busyFraction !== null && t('deviceHistory.busy', { percent: format.percent(busyFraction) })}
      </p>
      {keptBusy === false && <p className={classes.slow}>{t('deviceHistory.oftenIdle')}</p>}
      {energyWh !== null && (
        <p className={classes.sum}>{t('deviceHistory.energy', { energy: energyText(energyWh, format) })}</p>
      )}
      {slowerThan && (
        <p className={classes.slow}>
          {t(isHot(device) ? 'deviceHistory.slowHot' : 'deviceHistory.slow', {
            percent: format.integer(slowerThan.percent),
            other: label(slowerThan.id),
          })}
        </p>
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

function peakText(device: DeviceHistory, measure: Measure, { t, format }: Texts): string {
  const values = device.points.map((point) => point[measure]).filter((value) => value !== null);
  if (values.length === 0) return '–';
  const peak = Math.max(...values);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  switch (measure) {
    case 'utilizationPercent':
      return t('deviceHistory.mean', { value: format.percent(mean / 100) });
    case 'memoryUsedBytes':
      return t('deviceHistory.peak', { value: format.memory(peak) });
    case 'powerW':
      return t('deviceHistory.mean', { value: `${format.integer(mean)} W` });
    case 'temperatureC':
      return t('deviceHistory.peak', { value: `${format.integer(peak)} °C` });
  }
}
