import { memo, useMemo } from 'react';
import { Area, CartesianGrid, ReferenceArea } from 'recharts';
import { useTexts } from '../../i18n/index.ts';
import { PlotArea } from './Plot.tsx';
import { gapsBetween, timeTicks, type TimePoint } from './timeSeries.ts';

const MARGIN = { top: 6, right: 8, bottom: 0, left: 0 };
/** Share of the chart's width: a narrower gap has no room for its label. */
const LABELLED_SHARE = 0.12;
const SMALL_TICKS = 3;

interface TimeCurveProps {
  points: readonly TimePoint[];
  /** In seconds since the epoch. Curves side by side share it. */
  begin: number;
  end: number;
  /** The upper end of the scale. */
  top: number;
  axisWidth?: number;
  /** Formats a tick of the axis. */
  tick: (value: number) => string;
  /** Formats the value under the pointer. */
  label: (value: number) => string;
  /** For one of many curves: draws fewer ticks and no grid. */
  small?: boolean;
}

/** A measure over the time of a run, with a gap wherever the run was at rest. */
export const TimeCurve = memo(function TimeCurve({
  points,
  begin,
  end,
  top,
  axisWidth = 44,
  tick,
  label,
  small = false,
}: TimeCurveProps) {
  const { t, format } = useTexts();
  const gaps = useMemo(() => gapsBetween(points), [points]);
  return (
    <PlotArea
      kind="area"
      data={points}
      margin={MARGIN}
      x={{
        dataKey: 'time',
        type: 'number',
        domain: [begin, end],
        allowDataOverflow: true,
        ticks: timeTicks(end - begin, small ? SMALL_TICKS : undefined).map((seconds) => begin + seconds),
        tickFormatter: (time: number) => format.duration(Math.round(time - begin)),
        minTickGap: 24,
        ...(small ? { height: 18 } : {}),
        axisLine: { stroke: 'var(--line-strong)' },
      }}
      y={{
        width: axisWidth,
        domain: [0, top],
        ticks: small ? [0, top] : [0, top / 2, top],
        tickFormatter: tick,
        axisLine: false,
        ...(small ? { interval: 0 } : {}),
      }}
      tip={({ time, value }) =>
        value === null
          ? null
          : { title: format.time(new Date(time * 1000).toISOString()), lines: [label(value)] }
      }
    >
      {!small && <CartesianGrid vertical={false} stroke="var(--line)" />}
      {gaps.map(({ from, to }) => (
        <ReferenceArea
          key={from}
          x1={from}
          x2={to}
          fill="var(--surface-sunken)"
          fillOpacity={1}
          label={
            small || (to - from) / (end - begin) < LABELLED_SHARE
              ? false
              : { value: t('throughput.gap'), fontSize: 11, fill: 'var(--text-muted)' }
          }
        />
      ))}
      <Area
        type="linear"
        dataKey="value"
        stroke="var(--text-muted)"
        strokeWidth={1.5}
        fill="var(--text-muted)"
        fillOpacity={0.12}
        isAnimationActive={false}
      />
    </PlotArea>
  );
});
