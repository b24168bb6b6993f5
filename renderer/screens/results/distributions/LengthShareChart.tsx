import { useMemo } from 'react';
import { Bar, BarChart, LabelList, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { ChartTip } from '../../../components/charts/ChartTip.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { shareByLength, type LengthScores } from './distributions.ts';
import {
  AXIS,
  below,
  beside,
  BOTTOM_AXIS,
  COUNT_AXIS_PX,
  HEIGHT,
  lengthLabel,
  lengthTicks,
  MARGIN,
  SHARE_TICKS,
} from './plotParts.ts';

/** Of the sequences of a length that have a call, how many are called virus. */
export function LengthShareChart({ found }: { found: LengthScores }) {
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
