import { useMemo, type ReactNode } from 'react';
import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  LabelList,
  Line,
  LineChart,
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
import { niceTop, oneTwoFive } from '../../../components/charts/chartScale.ts';
import { ChartTip } from '../../../components/charts/ChartTip.tsx';
import { useTexts, type Texts } from '../../../i18n/index.ts';
import {
  lengthScoreGrid,
  merged,
  rankedScores,
  scoresByCall,
  shareByLength,
  type LengthBin,
  type LengthScores,
} from './distributions.ts';

const HEIGHT = 260;
const TICK = { fontSize: 11, fill: 'var(--text-muted)' };
const AXIS = { tick: TICK, tickLine: false } as const;
const BASE_LINE = { stroke: 'var(--line-strong)' };
/** Of numbers, below a plot. */
const BOTTOM_AXIS = { ...AXIS, tickLine: BASE_LINE, axisLine: BASE_LINE, type: 'number' } as const;
const MARGIN = { top: 16, right: 14, bottom: 12, left: 12 };
const COUNT_AXIS_PX = 52;
const SCORE_TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const SHARE_TICKS = [0, 0.25, 0.5, 0.75, 1];
/** Score bins of the engine that make one of a plot. */
const MERGED = 5;
/** So that a single sequence has a height on a logarithmic scale. */
const LOG_FLOOR = 0.5;
/** The palest square must still differ from an empty one. */
const PALEST = 0.14;
const KEY_STEPS = 5;

interface ChartProps {
  found: LengthScores;
}

const below = (value: string) =>
  ({ value, position: 'insideBottom', offset: -8, fontSize: 11, fill: 'var(--text-muted)' }) as const;
const beside = (value: string) =>
  ({
    value,
    angle: -90,
    position: 'insideLeft',
    offset: 0,
    fontSize: 11,
    fill: 'var(--text-muted)',
    style: { textAnchor: 'middle' },
  }) as const;

const lengthLabel = ({ format }: Texts, { from, to }: LengthBin) =>
  to === null ? `≥ ${format.bases(from)}` : `${format.bases(from)} – ${format.bases(to)}`;

function scoreTicks(format: Texts['format']) {
  const domain: [number, number] = [0, 1];
  return { domain, ticks: SCORE_TICKS, tickFormatter: (score: number) => format.decimal(score, 1) };
}

/** Lengths stand at the edges of their bins; the last one is open. */
function lengthTicks(bins: readonly LengthBin[], { format }: Texts) {
  return {
    ticks: Array.from({ length: bins.length + 1 }, (_, edge) => edge),
    domain: [0, Math.max(1, bins.length)] as [number, number],
    tickFormatter: (edge: number) => {
      const length = bins[edge]?.from ?? bins[edge - 1]?.to ?? null;
      return length === null ? '' : format.compact(length);
    },
  };
}

/** How many sequences of either call have which score. */
export function ScoresByCallChart({ found, isLog }: ChartProps & { isLog: boolean }) {
  const { t, format } = useTexts();
  const data = useMemo(() => {
    const { virus, others } = scoresByCall(found);
    const [viral, other] = [merged(virus, MERGED), merged(others, MERGED)];
    return viral.map((count, bin) => ({
      from: bin / viral.length,
      label: `${format.decimal(bin / viral.length, 2)} – ${format.decimal((bin + 1) / viral.length, 2)}`,
      virus: count,
      others: other[bin] ?? 0,
    }));
  }, [found, format]);
  const most = Math.max(1, ...data.map(({ virus, others }) => Math.max(virus, others)));
  const top = niceTop(most);
  const powers = Array.from(
    { length: Math.max(1, Math.ceil(Math.log10(most))) + 1 },
    (_, power) => 10 ** power,
  );
  const total = data.reduce((all, { virus, others }) => all + virus + others, 0);
  const last = data.at(-1);
  // The steps of the last bin end where the scale does.
  const steps = last ? [...data, { ...last, from: 1 }] : [];
  const height = (call: 'virus' | 'others') => (bin: (typeof data)[number]) =>
    isLog ? Math.max(LOG_FLOOR, bin[call]) : bin[call];
  return (
    <AccessibleChart
      savable
      title={t('plots.scores')}
      summary={t('results.allScored', { shown: format.integer(total), count: total })}
      height={HEIGHT}
      legend={[
        { label: t('prediction.virus'), color: 'var(--virus)', opacity: 0.75 },
        { label: t('prediction.others'), color: 'var(--others)', opacity: 0.5 },
      ]}
      table={{
        columns: [t('results.column.virusScore'), t('prediction.virus'), t('prediction.others')],
        rows: data.map(({ label, virus, others }) => [label, format.integer(virus), format.integer(others)]),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <AreaChart data={steps} margin={MARGIN} accessibilityLayer={false}>
          <XAxis
            {...BOTTOM_AXIS}
            {...scoreTicks(format)}
            dataKey="from"
            label={below(t('results.column.virusScore'))}
          />
          <YAxis
            {...AXIS}
            key={String(isLog)}
            width={COUNT_AXIS_PX}
            tickFormatter={format.compact}
            axisLine={false}
            scale={isLog ? 'log' : 'linear'}
            domain={isLog ? [LOG_FLOOR, powers.at(-1) ?? 10] : [0, top]}
            ticks={isLog ? powers : [0, top / 2, top]}
            allowDataOverflow
            label={beside(t('plots.rank'))}
          />
          <Tooltip
            cursor={{ stroke: 'var(--line-strong)' }}
            isAnimationActive={false}
            content={({ payload }) => {
              const bin = payload[0]?.payload as (typeof data)[number] | undefined;
              return bin ? (
                <ChartTip
                  title={bin.label}
                  lines={[
                    `${t('prediction.virus')}: ${format.integer(bin.virus)}`,
                    `${t('prediction.others')}: ${format.integer(bin.others)}`,
                  ]}
                />
              ) : null;
            }}
          />
          {/* Paler and behind: where both calls have a score, both outlines show. */}
          <Area
            type="stepAfter"
            dataKey={height('others')}
            stroke="var(--others)"
            strokeWidth={1.5}
            fill="var(--others)"
            fillOpacity={0.5}
            activeDot={false}
            isAnimationActive={false}
          />
          <Area
            type="stepAfter"
            dataKey={height('virus')}
            stroke="var(--virus)"
            strokeWidth={1.5}
            fill="var(--virus)"
            fillOpacity={0.75}
            activeDot={false}
            isAnimationActive={false}
          />
        </AreaChart>
      </ResponsiveContainer>
    </AccessibleChart>
  );
}

/** Of the sequences of a length that have a call, how many are called virus. */
export function LengthShareChart({ found }: ChartProps) {
  const texts = useTexts();
  const { t, format } = texts;
  const bins = useMemo(() => shareByLength(found), [found]);
  const data = bins.map((bin, index) => ({
    ...bin,
    middle: index + 0.5,
    label: lengthLabel(texts, bin),
    written: bin.share === null ? '' : format.percent(bin.share),
  }));
  return (
    <AccessibleChart
      savable
      title={t('plots.lengths')}
      summary={t('plots.lengthsNote')}
      note={t('plots.lengthsNote')}
      height={HEIGHT}
      table={{
        columns: [
          t('results.column.length'),
          t('prediction.virus'),
          t('prediction.others'),
          t('samples.share'),
        ],
        rows: data.map(({ label, virus, others, share }) => [
          label,
          format.integer(virus),
          format.integer(others),
          share === null ? '–' : format.percent(share, 1),
        ]),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <BarChart data={data} barCategoryGap="12%" margin={MARGIN} accessibilityLayer={false}>
          <XAxis
            {...BOTTOM_AXIS}
            {...lengthTicks(bins, texts)}
            dataKey="middle"
            interval={0}
            label={below(t('plots.bases'))}
          />
          <YAxis
            {...AXIS}
            width={COUNT_AXIS_PX}
            tickFormatter={(share: number) => format.percent(share)}
            axisLine={false}
            domain={[0, 1]}
            ticks={SHARE_TICKS}
            label={beside(t('samples.share'))}
          />
          <Tooltip
            cursor={{ fill: 'var(--surface-sunken)' }}
            isAnimationActive={false}
            content={({ payload }) => {
              const bar = payload[0]?.payload as (typeof data)[number] | undefined;
              return bar && bar.share !== null ? (
                <ChartTip
                  title={bar.label}
                  lines={[
                    `${t('samples.share')}: ${format.percent(bar.share, 1)}`,
                    `${t('prediction.virus')}: ${format.integer(bar.virus)}`,
                    `${t('prediction.others')}: ${format.integer(bar.others)}`,
                  ]}
                />
              ) : null;
            }}
          />
          <Bar dataKey="share" fill="var(--virus)" isAnimationActive={false}>
            <LabelList dataKey="written" position="top" fontSize={11} fill="var(--text)" />
          </Bar>
        </BarChart>
      </ResponsiveContainer>
    </AccessibleChart>
  );
}

/** How many sequences reach a score. */
export function RankedChart({ found }: ChartProps) {
  const { t, format } = useTexts();
  const data = useMemo(() => rankedScores(found), [found]);
  const total = data.at(-1)?.rank ?? 0;
  // The curve begins with the first sequence, at the score that it has.
  const curve = data[0] ? [{ ...data[0], rank: 0 }, ...data] : [];
  return (
    <AccessibleChart
      savable
      title={t('plots.ranked')}
      summary={t('results.allScored', { shown: format.integer(total), count: total })}
      note={t('plots.rankedNote')}
      height={HEIGHT}
      table={{
        columns: [t('plots.atLeast'), t('plots.rank')],
        rows: data.map(({ score, rank }) => [format.decimal(score, 2), format.integer(rank)]),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <LineChart data={curve} margin={MARGIN} accessibilityLayer={false}>
          <XAxis
            {...BOTTOM_AXIS}
            dataKey="rank"
            domain={[0, Math.max(1, total)]}
            allowDecimals={false}
            tickFormatter={format.compact}
            minTickGap={24}
            label={below(t('plots.bestFirst'))}
          />
          <YAxis
            {...AXIS}
            width={COUNT_AXIS_PX}
            {...scoreTicks(format)}
            axisLine={false}
            label={beside(t('results.column.virusScore'))}
          />
          <Tooltip
            isAnimationActive={false}
            content={({ payload }) => {
              const point = payload[0]?.payload as (typeof data)[number] | undefined;
              return point && point.rank > 0 ? (
                <ChartTip
                  title={`${t('plots.atLeast')} ${format.decimal(point.score, 2)}`}
                  lines={[`${format.integer(point.rank)} ${t('results.sequences')}`]}
                />
              ) : null;
            }}
          />
          <Line
            type="stepBefore"
            dataKey="score"
            stroke="var(--accent)"
            strokeWidth={2}
            dot={false}
            isAnimationActive={false}
          />
        </LineChart>
      </ResponsiveContainer>
    </AccessibleChart>
  );
}

interface GridCell {
  x: number;
  y: number;
  label: string;
  count: number;
  opacity: number;
}

/** Length against score. */
export function LengthScoreChart({ found }: ChartProps) {
  const texts = useTexts();
  const { t } = texts;
  const rows = useMemo(() => lengthScoreGrid(found, MERGED), [found]);
  return (
    <SquaresChart
      title={t('plots.grid')}
      counts={rows.map(({ counts }) => counts)}
      rowLabels={rows.map((row) => lengthLabel(texts, row))}
      rowAxis={{ ...lengthTicks(rows, texts), label: beside(t('plots.bases')), interval: 0 }}
      rowTitle={t('results.column.length')}
      columnTitle={t('results.column.virusScore')}
    />
  );
}

/** The scores of two runs: on the diagonal where they agree. */
export function TwoScoresChart({
  counts,
  names,
}: {
  counts: readonly (readonly number[])[];
  names: [string, string];
}) {
  const { t, format } = useTexts();
  const bins = counts.length;
  const ticks = SCORE_TICKS.map((score) => score * bins);
  const edge = (bin: number) => format.decimal(bin / bins, 2);
  return (
    <SquaresChart
      title={t('compare.scores')}
      counts={counts}
      rowLabels={counts.map((_, bin) => `${edge(bin)} – ${edge(bin + 1)}`)}
      rowAxis={{
        ticks,
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
  /** From below, then by score. */
  counts: readonly (readonly number[])[];
  rowLabels: readonly string[];
  rowAxis: Pick<YAxisProps, 'ticks' | 'domain' | 'tickFormatter' | 'label' | 'interval'>;
  rowTitle: string;
  columnTitle: string;
}

/** The stronger a square, the more sequences; by the logarithm, so that few do not vanish beside many. */
function SquaresChart({ title, counts, rowLabels, rowAxis, rowTitle, columnTitle }: SquaresChartProps) {
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
