import { useMemo } from 'react';
import { Bar, ReferenceLine } from 'recharts';
import { useTexts } from '../../i18n/index.ts';
import { BASE_LINE, countTicks } from './axes.ts';
import { Plot } from './Plot.tsx';

export interface HistogramBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

interface HistogramProps {
  title: string;
  summary: string;
  bins: readonly HistogramBin[];
  /** Formats the edges of a bin. */
  formatBorder: (value: number) => string;
  countLabel: string;
  height: number;
  color?: (bin: HistogramBin) => string;
  /** Hides the scale if a chart below the bars shows it. */
  withoutScale?: boolean;
  /** Positions of the ticks; by default, wherever there is room. */
  ticks?: readonly number[];
  /** A vertical line at this value, with a label. */
  line?: { readonly at: number; readonly label: string };
}

const COUNT_AXIS_PX = 40;
const MARGIN = { top: 6, right: 0, bottom: 0, left: 0 };
/** Leaves room above the bars for the label of the line. */
const LINE_MARGIN = { top: 20, right: 28, bottom: 0, left: 0 };

/** Even a single sequence among thousands must show, but an empty bin must not. */
const visibleIfAny = (count: unknown) => (typeof count === 'number' && count > 0 ? 2 : 0);

/** Counts per bin, as bars of equal width without gaps, however wide the bins are. */
export function Histogram(props: HistogramProps) {
  const { format } = useTexts();
  const { bins, formatBorder, withoutScale = false, color, ticks, line } = props;
  const data = useMemo(
    () =>
      bins.map((bin, index) => ({
        ...bin,
        middle: index + 0.5,
        fill: color?.(bin) ?? 'var(--others)',
        label: `${formatBorder(bin.from)} – ${formatBorder(bin.to)}`,
      })),
    [bins, formatBorder, color],
  );
  const place = line ? placeOf(bins, line.at) : null;
  return (
    <Plot
      kind="bar"
      title={props.title}
      summary={props.summary}
      height={props.height}
      table={() => ({
        columns: [props.title, props.countLabel],
        rows: data.map((bin) => [bin.label, format.integer(bin.count)]),
      })}
      data={data}
      margin={line ? LINE_MARGIN : MARGIN}
      barGap={1}
      x={{
        type: 'number',
        dataKey: 'middle',
        domain: [0, Math.max(1, bins.length)],
        ticks: ticks?.map((value) => placeOf(bins, value)).filter((at) => at !== null) ?? [
          0,
          ...bins.map((_, index) => index + 1),
        ],
        tickFormatter: (edge: number) => formatBorder(bins[edge]?.from ?? bins[edge - 1]?.to ?? 0),
        minTickGap: 12,
        tickLine: ticks ? BASE_LINE : false,
        axisLine: BASE_LINE,
        ...(withoutScale ? { tick: false, height: 1 } : {}),
      }}
      y={{
        ...countTicks(Math.max(1, ...bins.map((bin) => bin.count)), format),
        width: COUNT_AXIS_PX,
        axisLine: false,
      }}
      tip={(bin) => ({ title: bin.label, lines: [`${format.integer(bin.count)} ${props.countLabel}`] })}
    >
      <Bar dataKey="count" isAnimationActive={false} minPointSize={visibleIfAny} />
      {line && place !== null && (
        <ReferenceLine
          x={place}
          stroke="var(--text-muted)"
          strokeDasharray="4 3"
          label={{ value: line.label, position: 'top', fontSize: 11, fill: 'var(--text-muted)' }}
        />
      )}
    </Plot>
  );
}

/** The position of a value among bars of equal width; null if it lies outside. */
function placeOf(bins: readonly HistogramBin[], value: number): number | null {
  const index = bins.findIndex(({ from, to }) => value >= from && value < to);
  const bin = bins[index];
  return bin ? index + (value - bin.from) / (bin.to - bin.from) : null;
}
