import { isAtWork } from '../../../../electron/contract/runState.ts';
import { useCallback, useMemo } from 'react';
import { sequencesPerMinute, type RunSummary } from '../../../../electron/contract/index.ts';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { Section } from '../../../components/Card.tsx';
import { niceTop } from '../../../components/charts/axes.ts';
import { TimeCurve } from '../../../components/charts/TimeCurve.tsx';
import { totalsOverTime } from '../../../components/charts/timeSeries.ts';
import { useTexts } from '../../../i18n/index.ts';
import { useLiveRun } from '../../../state/runs/liveRun.ts';
import { useDeviceHistory } from './DevicesTable.tsx';

/** Sequences per minute of all devices together, from the start of the run until now. */
export function ThroughputChart({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const history = useDeviceHistory(run);
  const perResidue = useLiveRun((state) => sequencesPerMinute(1, state.live?.progress)) ?? 0;
  // Three digits are enough: the ratio drifts while files are being read, and the chart need not be redrawn for that.
  const factor = Number(perResidue.toPrecision(3));
  const points = useMemo(
    () =>
      totalsOverTime(history).map(({ time, value }) => ({
        time,
        value: value === null ? null : value * factor,
      })),
    [history, factor],
  );
  // The curve starts when computing began, not with the first score.
  const [first] = points;
  const began = history.map((device) => device.points[0]?.time ?? Infinity);
  const begin = Math.min(first?.time ?? 0, ...began);
  const top = Math.max(0, ...points.map((point) => point.value ?? 0));
  const labelOf = useCallback(
    (speed: number) => t('progress.sequencesPerMinute', { speed: format.rate(speed) }),
    [t, format],
  );
  return (
    <Section title={t('throughput.title')} aside={t('throughput.unit')}>
      {points.length < 2 ? (
        <p className="muted" style={{ minHeight: isAtWork(run) ? 164 : undefined, margin: 0 }}>
          {isAtWork(run) ? t('throughput.empty') : t('throughput.none')}
        </p>
      ) : (
        <AccessibleChart
          title={t('throughput.title')}
          summary={t('throughput.summary', {
            top: format.rate(top),
            now: format.rate(points.at(-1)?.value ?? 0),
          })}
          height={160}
          table={() => ({
            columns: [t('throughput.time'), t('throughput.unit')],
            rows: points.map((point) => [
              format.time(new Date(point.time * 1000).toISOString()),
              point.value === null ? '–' : format.integer(point.value),
            ]),
          })}
        >
          <TimeCurve
            points={points}
            begin={begin}
            end={points.at(-1)?.time ?? 0}
            top={niceTop(top)}
            tick={format.compact}
            label={labelOf}
          />
        </AccessibleChart>
      )}
    </Section>
  );
}
