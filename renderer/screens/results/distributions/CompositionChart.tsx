import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { SampleSummary } from '../../../../electron/contract/index.ts';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { ChartTip } from '../../../components/charts/ChartTip.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { SAMPLE_CALLS } from '../sampleCalls.ts';
import { AXIS, below, BOTTOM_AXIS, HEIGHT, MARGIN, SHARE_TICKS } from './plotParts.ts';

const BAR_PX = 24;
/** Of the axis below the bars, and what stands above them. */
const AROUND_PX = 64;
const NAME_PX = 150;
const LONGEST_NAME = 22;

const shortened = (name: string) =>
  name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;

/** Of which calls the sequences of each sample are, one bar to a sample. */
export function CompositionChart({ samples }: { samples: readonly SampleSummary[] }) {
  const { t, format } = useTexts();
  const data = samples.map((sample) => {
    const shareOf = (count: number) => (sample.sequences === 0 ? 0 : count / sample.sequences);
    return {
      ...sample,
      shares: Object.fromEntries(SAMPLE_CALLS.map(({ key }) => [key, shareOf(sample[key])])),
    };
  });
  const calls = SAMPLE_CALLS.filter(({ key }) => samples.some((sample) => sample[key] > 0));
  return (
    <AccessibleChart
      savable
      title={t('plots.composition')}
      summary={t('plots.compositionNote')}
      note={t('plots.compositionNote')}
      height={Math.max(HEIGHT, AROUND_PX + BAR_PX * samples.length)}
      legend={calls.map(({ prediction, color }) => ({ label: t(`prediction.${prediction}`), color }))}
      table={{
        columns: [
          t('samples.sample'),
          t('samples.sequences'),
          ...SAMPLE_CALLS.map(({ prediction }) => t(`prediction.${prediction}`)),
        ],
        rows: samples.map((sample) => [
          sample.sample,
          format.integer(sample.sequences),
          ...SAMPLE_CALLS.map(({ key }) => format.integer(sample[key])),
        ]),
      }}
    >
      <ResponsiveContainer width="100%" height="100%">
        <BarChart
          layout="vertical"
          data={data}
          barCategoryGap="18%"
          maxBarSize={44}
          margin={MARGIN}
          accessibilityLayer={false}
        >
          <XAxis
            {...BOTTOM_AXIS}
            domain={[0, 1]}
            ticks={SHARE_TICKS}
            tickFormatter={(share: number) => format.percent(share)}
            label={below(t('plots.shareOfSequences'))}
          />
          <YAxis
            {...AXIS}
            type="category"
            dataKey="sample"
            width={NAME_PX}
            interval={0}
            axisLine={false}
            tickFormatter={shortened}
          />
          <Tooltip
            cursor={{ fill: 'var(--surface-sunken)' }}
            isAnimationActive={false}
            content={({ payload }) => {
              const bar = payload[0]?.payload as (typeof data)[number] | undefined;
              return bar ? (
                <ChartTip
                  title={bar.sample}
                  lines={calls.map(
                    ({ key, prediction }) =>
                      `${t(`prediction.${prediction}`)}: ${format.integer(bar[key])} (${format.percent(bar.shares[key] ?? 0, 1)})`,
                  )}
                />
              ) : null;
            }}
          />
          {calls.map(({ key, color }) => (
            <Bar key={key} dataKey={`shares.${key}`} stackId="calls" fill={color} isAnimationActive={false} />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </AccessibleChart>
  );
}
