import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import {
  AreaChart,
  BarChart,
  DefaultZIndexes,
  LineChart,
  ReferenceArea,
  ResponsiveContainer,
  ScatterChart,
  Tooltip,
  XAxis,
  YAxis,
  type XAxisProps,
  type YAxisProps,
} from 'recharts';
import { AccessibleChart, type AccessibleChartProps } from './AccessibleChart.tsx';
import { AXIS, MARGIN } from './axes.ts';

const CHARTS = { area: AreaChart, bar: BarChart, line: LineChart, scatter: ScatterChart } as const;

const NOT_THROTTLED = [] as const;

interface Tip {
  readonly title: string;
  readonly lines: readonly string[];
}

/** The parts of both axes that a filter lets through; null if it does not limit them. */
export interface Chosen {
  readonly x?: readonly [number, number] | null;
  readonly y?: readonly [number, number] | null;
}

interface PlotAreaProps<Row extends object> {
  kind: keyof typeof CHARTS;
  /** Bars extend along the x axis, one below the other. */
  horizontal?: boolean;
  data: readonly Row[];
  x: XAxisProps;
  y: YAxisProps;
  margin?: typeof MARGIN;
  barGap?: string | number;
  /** The tooltip for the row under the pointer; null shows none. */
  tip: (row: Row) => Tip | null;
  /** Called for a click on the bar or point of a row. */
  onPick?: ((row: Row) => void) | undefined;
  chosen?: Chosen | undefined;
  /** The series. */
  children: ReactNode;
}

/** A chart with two axes that shows the values under the pointer and fills its container. */
export function PlotArea<Row extends object>(props: PlotAreaProps<Row>) {
  const {
    kind,
    horizontal = false,
    data,
    x,
    y,
    margin = MARGIN,
    barGap,
    tip,
    onPick,
    chosen,
    children,
  } = props;
  const Chart = CHARTS[kind];
  const cursor = { bar: { fill: 'var(--surface-sunken)' }, scatter: false }[kind as string];
  return (
    <ResponsiveContainer width="100%" height="100%">
      <Chart
        data={data}
        margin={margin}
        layout={horizontal ? 'vertical' : 'horizontal'}
        {...(barGap === undefined ? {} : { barCategoryGap: barGap })}
        {...(horizontal ? { maxBarSize: 44 } : {})}
        accessibilityLayer={false}
        // The move of a tap must reach the chart before its click, which picks what is under the pointer.
        throttledEvents={NOT_THROTTLED}
        {...(onPick && {
          style: { cursor: 'pointer' },
          onClick: ({ activeTooltipIndex }) => {
            const row = data[Number(activeTooltipIndex ?? -1)];
            if (row) onPick(row);
          },
        })}
      >
        <XAxis {...AXIS} {...x} />
        <YAxis {...AXIS} {...y} />
        <Tooltip
          cursor={cursor ?? { stroke: 'var(--line-strong)' }}
          isAnimationActive={false}
          content={({ payload }) => {
            const row = payload[0]?.payload as Row | undefined;
            const shown = row && tip(row);
            return shown ? (
              <Paper withBorder shadow="sm" radius="md" px={10} py={6} fz="xs">
                <strong>{shown.title}</strong>
                {shown.lines.map((line) => (
                  <Text key={line} fz="inherit">
                    {line}
                  </Text>
                ))}
              </Paper>
            ) : null;
          }}
        />
        {chosen && (chosen.x ?? chosen.y) && (
          <ReferenceArea
            {...(chosen.x && { x1: chosen.x[0], x2: chosen.x[1] })}
            {...(chosen.y && { y1: chosen.y[0], y2: chosen.y[1] })}
            fill="var(--accent)"
            fillOpacity={0.12}
            stroke="var(--text)"
            // In front of the squares, too.
            zIndex={DefaultZIndexes.activeBar}
            style={{ pointerEvents: 'none' }}
          />
        )}
        {children}
      </Chart>
    </ResponsiveContainer>
  );
}

/** A plot that can be read as a table and, unless `savable` is false, saved as a picture. */
export function Plot<Row extends object>({
  title,
  summary,
  table,
  height,
  legend,
  note,
  savable = true,
  ...plot
}: PlotAreaProps<Row> & Omit<AccessibleChartProps, 'children'>) {
  const described = { title, summary, table, height, savable };
  return (
    <AccessibleChart {...described} {...(legend && { legend })} {...(note !== undefined && { note })}>
      <PlotArea {...plot} />
    </AccessibleChart>
  );
}
