import { useMemo } from 'react';
import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { useTexts } from '../../i18n/index.ts';
import { AccessibleChart } from './AccessibleChart.tsx';
import { niceTop } from './chartScale.ts';
import { ChartTip } from './ChartTip.tsx';

export interface HistogramBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

interface HistogramProps {
  title: string;
  summary: string;
  bins: readonly HistogramBin[];
  /** How a bin's borders are written. */
  formatBorder: (value: number) => string;
  countLabel: string;
  height: number;
  color?: (bin: HistogramBin) => string;
  /** Where something below the bars has the scale. */
  withoutScale?: boolean;
}

const COUNT_AXIS_PX = 40;

/** A single sequence among thousands must still show; none must not. */
const visibleIfAny = (count: unknown) => (typeof count === 'number' && count > 0 ? 2 : 0);

/** Counts per bin, as bars that touch. */
export function Histogram(props: HistogramProps) {
  const { format } = useTexts();
  const { bins, formatBorder, withoutScale = false, color } = props;
  const data = useMemo(
    () =>
      bins.map((bin, index) => ({
        ...bin,
        index,
        fill: color?.(bin) ?? 'var(--others)',
        label: `${formatBorder(bin.from)} – ${formatBorder(bin.to)}`,
      })),
    [bins, formatBorder, color],
  );
  const top = niceTop(Math.max(1, ...bins.map((bin) => bin.count)));
  return (
    <AccessibleChart
      savable={!withoutScale}
      title={props.title}
      summary={props.summary}
      height={props.height}
      table={{
        columns: [props.title, props.countLabel],
        rows: data.map((bin) => [bin.label, format.integer(bin.count)]),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <BarChart
          data={data}
          barCategoryGap={1}
          margin={{ top: 6, right: 0, bottom: 0, left: 0 }}
          accessibilityLayer={false}
        >
          <XAxis
            dataKey="index"
            tickFormatter={(index: number) => formatBorder(data[index]?.from ?? 0)}
            minTickGap={32}
            tick={withoutScale ? false : { fontSize: 11, fill: 'var(--text-muted)' }}
            {...(withoutScale ? { height: 1 } : {})}
            tickLine={false}
            axisLine={{ stroke: 'var(--line-strong)' }}
          />
          <YAxis
            width={COUNT_AXIS_PX}
            tickFormatter={format.compact}
            allowDecimals={false}
            tick={{ fontSize: 11, fill: 'var(--text-muted)' }}
            tickLine={false}
            axisLine={false}
            domain={[0, top]}
            ticks={[0, top / 2, top]}
          />
          <Tooltip
            cursor={{ fill: 'var(--surface-sunken)' }}
            isAnimationActive={false}
            content={({ payload }) => {
              const bin = payload[0]?.payload as (typeof data)[number] | undefined;
              return bin ? (
                <ChartTip title={bin.label} lines={[`${format.integer(bin.count)} ${props.countLabel}`]} />
              ) : null;
            }}
          />
          <Bar dataKey="count" isAnimationActive={false} minPointSize={visibleIfAny} />
        </BarChart>
      </ResponsiveContainer>
    </AccessibleChart>
  );
}
