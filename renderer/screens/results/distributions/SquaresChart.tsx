import { useMemo, type ReactNode } from 'react';
import { Scatter, usePlotArea, type YAxisProps } from 'recharts';
import type { LengthScores } from '../../../../electron/contract/index.ts';
import {
  BASE_LINE,
  below,
  beside,
  COUNT_AXIS_PX,
  HEIGHT,
  NUMBERS_BELOW,
  oneTwoFive,
  SCORE_TICKS,
  scoreTicks,
} from '../../../components/charts/axes.ts';
import { Plot } from '../../../components/charts/Plot.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { lengthLabel, lengthScoreGrid, lengthTicks, MERGED } from './distributions.ts';

/** The palest square must still differ from an empty one. */
const PALEST = 0.14;
const KEY_STEPS = 5;

/** Plots length against score. */
export function LengthScoreChart({ found }: { found: LengthScores }) {
  const texts = useTexts();
  const { t } = texts;
  const rows = useMemo(() => lengthScoreGrid(found, MERGED), [found]);
  return (
    <SquaresChart
      title={t('plots.grid')}
      counts={rows.map(({ counts }) => counts)}
      rowLabels={rows.map((row) => lengthLabel(texts, row))}
      rowAxis={{ ...lengthTicks(rows, texts), label: beside(t('plots.bases')), interval: 0 }}
      rowTitle={t('column.length')}
      columnTitle={t('column.virusScore')}
    />
  );
}

interface TwoScoresChartProps {
  counts: readonly (readonly number[])[];
  names: [string, string];
}

/** Plots the scores of two runs, which agree on the diagonal. */
export function TwoScoresChart({ counts, names }: TwoScoresChartProps) {
  const { t, format } = useTexts();
  const bins = counts.length;
  const edge = (bin: number) => format.decimal(bin / bins, 2);
  return (
    <SquaresChart
      title={t('compare.scores')}
      counts={counts}
      rowLabels={counts.map((_, bin) => `${edge(bin)} – ${edge(bin + 1)}`)}
      rowAxis={{
        ticks: SCORE_TICKS.map((score) => score * bins),
        domain: [0, bins],
        tickFormatter: (bin: number) => format.decimal(bin / bins, 1),
        label: beside(names[0]),
      }}
      rowTitle={names[0]}
      columnTitle={names[1]}
    />
  );
}

interface SquaresChartProps {
  title: string;
  /** Rows from the bottom up, each by score. */
  counts: readonly (readonly number[])[];
  rowLabels: readonly string[];
  rowAxis: YAxisProps;
  rowTitle: string;
  columnTitle: string;
}

/** The stronger a square, the more sequences it holds, on a logarithmic scale, so that small counts remain visible beside large ones. */
function SquaresChart({ title, counts, rowLabels, rowAxis, rowTitle, columnTitle }: SquaresChartProps) {
  const { t, format } = useTexts();
  const bins = counts[0]?.length ?? 1;
  const present = counts.flatMap((row) => row.filter((count) => count > 0));
  const [fewest, most] = [Math.min(...present), Math.max(...present)];
  const opacity = (count: number) =>
    most === fewest ? 1 : PALEST + (1 - PALEST) * (Math.log(count / fewest) / Math.log(most / fewest));
  const scoreLabel = (bin: number) => format.decimal(bin / bins, 2);
  const cells = counts.flatMap((row, y) =>
    row.map((count, bin) => ({
      x: (bin + 0.5) / bins,
      y: y + 0.5,
      label: `${rowLabels[y] ?? ''}; ${scoreLabel(bin)} – ${scoreLabel(bin + 1)}`,
      count,
      opacity: count === 0 ? 0 : opacity(count),
    })),
  );
  const data = cells.filter(({ count }) => count > 0);
  const steps =
    present.length === 0 ? [] : [...new Set([fewest, ...oneTwoFive(fewest, most, KEY_STEPS), most])];
  return (
    <Plot
      kind="scatter"
      title={title}
      summary={t('plots.gridNote')}
      note={t('plots.gridNote')}
      height={HEIGHT}
      legend={steps.map((count) => ({
        label: format.integer(count),
        color: 'var(--accent)',
        opacity: opacity(count),
      }))}
      table={() => ({
        columns: [rowTitle, ...Array.from({ length: bins }, (_, bin) => scoreLabel(bin))],
        rows: counts
          .map((row, y) => [rowLabels[y] ?? '', ...row.map((count) => format.integer(count))])
          .toReversed(),
      })}
      data={data}
      x={{ ...NUMBERS_BELOW, ...scoreTicks(format), dataKey: 'x', label: below(columnTitle) }}
      y={{
        ...rowAxis,
        type: 'number',
        dataKey: 'y',
        width: COUNT_AXIS_PX,
        axisLine: BASE_LINE,
        tickLine: BASE_LINE,
      }}
      tip={({ label, count }) => ({
        title: label,
        lines: [`${format.integer(count)} ${t('results.sequences')}`],
      })}
    >
      <Scatter
        data={data}
        isAnimationActive={false}
        shape={({ cx, cy, payload }: SquareProps) => (
          <GridSquare
            x={cx ?? 0}
            y={cy ?? 0}
            opacity={payload?.opacity ?? 0}
            columns={bins}
            rows={counts.length}
          />
        )}
      />
    </Plot>
  );
}

interface SquareProps {
  cx?: number | undefined;
  cy?: number | undefined;
  payload?: { opacity: number };
}

interface GridSquareProps {
  /** The middle of the square. */
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
