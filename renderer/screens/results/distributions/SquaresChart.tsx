import type { ReactNode } from 'react';
import {
  ResponsiveContainer,
  Scatter,
  ScatterChart,
  Tooltip,
  usePlotArea,
  XAxis,
  YAxis,
  type YAxisProps,
} from 'recharts';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { oneTwoFive } from '../../../components/charts/chartScale.ts';
import { ChartTip } from '../../../components/charts/ChartTip.tsx';
import { useTexts } from '../../../i18n/index.ts';
import {
  AXIS,
  BASE_LINE,
  below,
  BOTTOM_AXIS,
  COUNT_AXIS_PX,
  HEIGHT,
  MARGIN,
  scoreTicks,
} from './plotParts.ts';

/** The palest square must still differ from an empty one. */
const PALEST = 0.14;
const KEY_STEPS = 5;

interface GridCell {
  x: number;
  y: number;
  label: string;
  count: number;
  opacity: number;
}

interface SquaresChartProps {
  title: string;
  /** From below, then by score. */
  counts: readonly (readonly number[])[];
  rowLabels: readonly string[];
  rowAxis: Pick<YAxisProps, 'ticks' | 'domain' | 'tickFormatter' | 'label' | 'interval'>;
  rowTitle: string;
  columnTitle: string;
}

/** The stronger a square, the more sequences; by the logarithm, so that few do not vanish beside many. */
export function SquaresChart({
  title,
  counts,
  rowLabels,
  rowAxis,
  rowTitle,
  columnTitle,
}: SquaresChartProps) {
  const { t, format } = useTexts();
  const bins = counts[0]?.length ?? 1;
  const present = counts.flatMap((row) => row.filter((count) => count > 0));
  const [fewest, most] = [Math.min(...present), Math.max(...present)];
  const opacity = (count: number) =>
    most === fewest ? 1 : PALEST + (1 - PALEST) * (Math.log(count / fewest) / Math.log(most / fewest));
  const scoreLabel = (bin: number) => format.decimal(bin / bins, 2);
  const data = counts.flatMap((row, y) =>
    row.flatMap((count, bin): GridCell[] =>
      count === 0
        ? []
        : [
            {
              x: (bin + 0.5) / bins,
              y: y + 0.5,
              label: `${rowLabels[y] ?? ''}; ${scoreLabel(bin)} – ${scoreLabel(bin + 1)}`,
              count,
              opacity: opacity(count),
            },
          ],
    ),
  );
  const steps =
    present.length === 0 ? [] : [...new Set([fewest, ...oneTwoFive(fewest, most, KEY_STEPS), most])];
  return (
    <AccessibleChart
      savable
      title={title}
      summary={t('plots.gridNote')}
      note={t('plots.gridNote')}
      height={HEIGHT}
      legend={steps.map((count) => ({
        label: format.integer(count),
        color: 'var(--accent)',
        opacity: opacity(count),
      }))}
      table={{
        columns: [rowTitle, ...Array.from({ length: bins }, (_, bin) => scoreLabel(bin))],
        rows: counts
          .map((row, y) => [rowLabels[y] ?? '', ...row.map((count) => format.integer(count))])
          .toReversed(),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <ScatterChart margin={MARGIN} accessibilityLayer={false}>
          <XAxis {...BOTTOM_AXIS} {...scoreTicks(format)} dataKey="x" label={below(columnTitle)} />
          <YAxis
            {...AXIS}
            {...rowAxis}
            type="number"
            dataKey="y"
            width={COUNT_AXIS_PX}
            axisLine={BASE_LINE}
            tickLine={BASE_LINE}
          />
          <Tooltip
            cursor={false}
            isAnimationActive={false}
            content={({ payload }) => {
              const cell = payload[0]?.payload as GridCell | undefined;
              return cell ? (
                <ChartTip
                  title={cell.label}
                  lines={[`${format.integer(cell.count)} ${t('results.sequences')}`]}
                />
              ) : null;
            }}
          />
          <Scatter
            data={data}
            isAnimationActive={false}
            shape={(cell: { cx?: number | undefined; cy?: number | undefined; payload?: GridCell }) => (
              <GridSquare
                x={cell.cx ?? 0}
                y={cell.cy ?? 0}
                opacity={cell.payload?.opacity ?? 0}
                columns={bins}
                rows={counts.length}
              />
            )}
          />
        </ScatterChart>
      </ResponsiveContainer>
    </AccessibleChart>
  );
}

interface GridSquareProps {
  /** Its middle. */
  x: number;
  y: number;
  opacity: number;
  columns: number;
  rows: number;
}

function GridSquare({ x, y, opacity, columns, rows }: GridSquareProps): ReactNode {
  const area = usePlotArea();
  if (!area) return null;
  const [width, height] = [area.width / columns, area.height / rows];
  return (
    <rect
      x={x - width / 2 + 0.5}
      y={y - height / 2 + 0.5}
      width={Math.max(1, width - 1)}
      height={Math.max(1, height - 1)}
      fill="var(--accent)"
      fillOpacity={opacity}
    />
  );
}
