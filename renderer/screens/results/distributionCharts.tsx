import { Fragment, useMemo } from 'react';
import { Bar, BarChart, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { AccessibleChart } from '../../components/charts/AccessibleChart.tsx';
import { niceTop } from '../../components/charts/chartScale.ts';
import { ChartTip } from '../../components/charts/ChartTip.tsx';
import { useTexts } from '../../i18n/index.ts';
import classes from './DistributionsCard.module.css';
import {
  lengthScoreGrid,
  merged,
  rankedScores,
  scoresByCall,
  shareByLength,
  type LengthScores,
} from './distributions.ts';

const HEIGHT = 220;
const TICK = { fontSize: 11, fill: 'var(--text-muted)' };
const AXIS = { tick: TICK, tickLine: false } as const;
const MARGIN = { top: 6, right: 8, bottom: 0, left: 0 };
const COUNT_AXIS_PX = 48;

/** So that a single sequence has a bar on a logarithmic scale. */
const LOG_FLOOR = 0.5;

interface ChartProps {
  found: LengthScores;
}

/** How many sequences of either call have which score. */
export function ScoresByCallChart({ found, isLog }: ChartProps & { isLog: boolean }) {
  const { t, format } = useTexts();
  const data = useMemo(() => {
    const { virus, others } = scoresByCall(found);
    const [viral, other] = [merged(virus, 5), merged(others, 5)];
    return viral.map((count, bin) => ({
      from: bin / viral.length,
      label: `${format.decimal(bin / viral.length, 2)} – ${format.decimal((bin + 1) / viral.length, 2)}`,
      virus: count,
      others: other[bin] ?? 0,
    }));
  }, [found, format]);
  const most = Math.max(1, ...data.map(({ virus, others }) => Math.max(virus, others)));
  const top = niceTop(most);
  const powers = Array.from({ length: Math.ceil(Math.log10(most)) + 1 }, (_, power) => 10 ** power);
  const shown = (call: 'virus' | 'others') => (bin: (typeof data)[number]) =>
    isLog && bin[call] === 0 ? LOG_FLOOR : bin[call];
  const total = data.reduce((all, { virus, others }) => all + virus + others, 0);
  return (
    <AccessibleChart
      title={t('plots.scores')}
      summary={t('results.allScored', { shown: format.integer(total), count: total })}
      height={HEIGHT}
      table={{
        columns: [t('results.column.virusScore'), t('prediction.virus'), t('prediction.others')],
        rows: data.map(({ label, virus, others }) => [label, format.integer(virus), format.integer(others)]),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <BarChart data={data} barCategoryGap={1} barGap={0} margin={MARGIN} accessibilityLayer={false}>
          <XAxis
            {...AXIS}
            dataKey="from"
            tickFormatter={(score: number) => format.decimal(score, 2)}
            minTickGap={24}
            axisLine={{ stroke: 'var(--line-strong)' }}
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
          />
          <Tooltip
            cursor={{ fill: 'var(--surface-sunken)' }}
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
          <Bar dataKey={shown('virus')} fill="var(--virus)" isAnimationActive={false} />
          <Bar dataKey={shown('others')} fill="var(--others)" isAnimationActive={false} />
        </BarChart>
      </ResponsiveContainer>
    </AccessibleChart>
  );
}

/** Of the sequences of a length that have a call, how many are called virus. */
export function LengthShareChart({ found }: ChartProps) {
  const { t, format } = useTexts();
  const data = useMemo(
    () =>
      shareByLength(found).map(({ from, to, ...bar }) => ({
        ...bar,
        label: to === null ? `≥ ${format.bases(from)}` : `${format.bases(from)} – ${format.bases(to)}`,
      })),
    [found, format],
  );
  return (
    <AccessibleChart
      title={t('plots.lengths')}
      summary={t('plots.lengthsNote')}
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
          format.percent(share, 1),
        ]),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <BarChart data={data} barCategoryGap="15%" margin={MARGIN} accessibilityLayer={false}>
          <XAxis {...AXIS} dataKey="label" minTickGap={8} axisLine={{ stroke: 'var(--line-strong)' }} />
          <YAxis
            {...AXIS}
            width={COUNT_AXIS_PX}
            tickFormatter={(share: number) => format.percent(share)}
            axisLine={false}
            domain={[0, 1]}
            ticks={[0, 0.5, 1]}
          />
          <Tooltip
            cursor={{ fill: 'var(--surface-sunken)' }}
            isAnimationActive={false}
            content={({ payload }) => {
              const bar = payload[0]?.payload as (typeof data)[number] | undefined;
              return bar ? (
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
          <Bar dataKey="share" fill="var(--virus)" isAnimationActive={false} />
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
  return (
    <AccessibleChart
      title={t('plots.ranked')}
      summary={t('results.allScored', { shown: format.integer(total), count: total })}
      height={HEIGHT}
      table={{
        columns: [t('plots.atLeast'), t('plots.rank')],
        rows: data.map(({ score, rank }) => [format.decimal(score, 2), format.integer(rank)]),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <LineChart data={data} margin={MARGIN} accessibilityLayer={false}>
          <XAxis
            {...AXIS}
            type="number"
            dataKey="rank"
            domain={[0, Math.max(1, total)]}
            tickFormatter={format.compact}
            minTickGap={24}
            axisLine={{ stroke: 'var(--line-strong)' }}
          />
          <YAxis
            {...AXIS}
            width={COUNT_AXIS_PX}
            domain={[0, 1]}
            ticks={[0, 0.5, 1]}
            tickFormatter={(score: number) => format.decimal(score, 1)}
            axisLine={false}
          />
          <Tooltip
            isAnimationActive={false}
            content={({ payload }) => {
              const point = payload[0]?.payload as (typeof data)[number] | undefined;
              return point ? (
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
            dot={data.length === 1}
            isAnimationActive={false}
          />
        </LineChart>
      </ResponsiveContainer>
    </AccessibleChart>
  );
}

/** Length against score: the darker, the more sequences; by the logarithm, so that few do not vanish beside many. */
export function LengthScoreChart({ found }: ChartProps) {
  const { t, format } = useTexts();
  const rows = useMemo(() => lengthScoreGrid(found, 5).toReversed(), [found]);
  const bins = rows[0]?.counts.length ?? 0;
  const most = Math.max(1, ...rows.flatMap(({ counts }) => counts));
  const lengthLabel = ({ from, to }: (typeof rows)[number]) =>
    to === null ? `≥ ${format.bases(from)}` : `${format.bases(from)} – ${format.bases(to)}`;
  const scoreLabel = (bin: number) => format.decimal(bin / Math.max(1, bins), 2);
  const depth = (count: number) => (count === 0 ? 0 : 15 + 85 * (Math.log(count + 1) / Math.log(most + 1)));
  return (
    <AccessibleChart
      title={t('plots.grid')}
      summary={t('plots.gridNote')}
      height={HEIGHT}
      table={{
        columns: [t('results.column.length'), ...Array.from({ length: bins }, (_, bin) => scoreLabel(bin))],
        rows: rows.map((row) => [lengthLabel(row), ...row.counts.map((count) => format.integer(count))]),
      }}
    >
      <div
        className={classes.grid}
        style={{
          gridTemplateColumns: `auto repeat(${bins}, minmax(4px, 1fr))`,
          gridTemplateRows: `repeat(${rows.length}, minmax(8px, 1fr)) auto`,
        }}
      >
        {rows.map((row) => (
          <Fragment key={row.from}>
            <span className={classes.rowLabel}>{lengthLabel(row)}</span>
            {row.counts.map((count, bin) => (
              <span
                key={bin}
                className={classes.cell}
                title={`${lengthLabel(row)}, ${scoreLabel(bin)} – ${scoreLabel(bin + 1)}: ${format.integer(count)} ${t('results.sequences')}`}
                style={
                  count === 0
                    ? {}
                    : { background: `color-mix(in srgb, var(--accent) ${depth(count)}%, var(--surface))` }
                }
              />
            ))}
          </Fragment>
        ))}
        <span />
        {Array.from({ length: bins }, (_, bin) => (
          <span key={scoreLabel(bin)} className={classes.columnLabel}>
            {bin % 5 === 0 ? scoreLabel(bin) : ''}
          </span>
        ))}
      </div>
    </AccessibleChart>
  );
}
