import { useMemo } from 'react';
import { Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { ChartTip } from '../../../components/charts/ChartTip.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { rankedScores, type LengthScores } from './distributions.ts';
import { AXIS, below, beside, BOTTOM_AXIS, COUNT_AXIS_PX, HEIGHT, MARGIN, scoreTicks } from './plotParts.ts';

/** How many sequences reach a score. */
export function RankedChart({ found }: { found: LengthScores }) {
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
