import { Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import {
  AreaChart,
  BarChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
  type XAxisProps,
  type YAxisProps,
} from 'recharts';
import { AccessibleChart, type AccessibleChartProps } from './AccessibleChart.tsx';
import { AXIS, MARGIN } from './axes.ts';

const CHARTS = { area: AreaChart, bar: BarChart } as const;

interface Tip {
  readonly title: string;
  readonly lines: readonly string[];
}

interface PlotAreaProps<Row extends object> {
  kind: keyof typeof CHARTS;
  data: readonly Row[];
  x: XAxisProps;
  y: YAxisProps;
  margin?: typeof MARGIN;
  /** The tooltip for the row under the pointer; null shows none. */
  tip: (row: Row) => Tip | null;
  /** The series. */
  children: ReactNode;
}

/** A chart with two axes that shows the values under the pointer and fills its container. */
export function PlotArea<Row extends object>(props: PlotAreaProps<Row>) {
  const { kind, data, x, y, margin = MARGIN, tip, children } = props;
  const Chart = CHARTS[kind];
  return (
    <ResponsiveContainer width="100%" height="100%">
      <Chart data={data} margin={margin} barCategoryGap="12%" accessibilityLayer={false}>
        <XAxis {...AXIS} {...x} />
        <YAxis {...AXIS} {...y} />
        <Tooltip
          cursor={kind === 'bar' ? { fill: 'var(--surface-sunken)' } : { stroke: 'var(--line-strong)' }}
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
        {children}
      </Chart>
    </ResponsiveContainer>
  );
}

/** A plot that can be read as a table. */
export function Plot<Row extends object>({
  title,
  summary,
  table,
  height,
  legend,
  note,
  ...plot
}: PlotAreaProps<Row> & Omit<AccessibleChartProps, 'children'>) {
  const described = { title, summary, height, ...(table && { table }) };
  return (
    <AccessibleChart {...described} {...(legend && { legend })} {...(note !== undefined && { note })}>
      <PlotArea {...plot} />
    </AccessibleChart>
  );
}
