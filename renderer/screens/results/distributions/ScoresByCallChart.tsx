import { useMemo } from 'react';
import { Area, AreaChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { niceTop } from '../../../components/charts/chartScale.ts';
import { ChartTip } from '../../../components/charts/ChartTip.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { merged, scoresByCall, type LengthScores } from './distributions.ts';
import {
  AXIS,
  below,
  beside,
  BOTTOM_AXIS,
  COUNT_AXIS_PX,
  HEIGHT,
  MARGIN,
  MERGED,
  scoreTicks,
} from './plotParts.ts';

/** So that a single sequence has a height on a logarithmic scale. */
const LOG_FLOOR = 0.5;

/** How many sequences of either call have which score. */
export function ScoresByCallChart({ found, isLog }: { found: LengthScores; isLog: boolean }) {
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
