import { useMemo } from 'react';
import { Area, Bar, LabelList } from 'recharts';
import { sharePercent, type LengthBin } from '../../../../electron/contract/index.ts';
import {
  below,
  beside,
  COUNT_AXIS_PX,
  countTicks,
  HEIGHT,
  NUMBERS_BELOW,
  scoreTicks,
  SHARE_TICKS,
} from '../../../components/charts/axes.ts';
import { Plot } from '../../../components/charts/Plot.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { lengthLabel, lengthTicks, merged, sharesByLength } from './distributions.ts';

/** The calls by which the sequences of a sample are counted, in the order in which they are drawn, with their colours. */
export const SAMPLE_CALLS = [
  { call: 'virus', color: 'var(--virus)' },
  { call: 'others', color: 'var(--others)' },
  { call: 'not_scored', color: 'var(--not-scored)' },
  { call: 'failed', color: 'var(--failed)' },
] as const;

/** Gives a single sequence a height on a logarithmic scale. */
const LOG_FLOOR = 0.5;

/** How many of the score bins that were counted make one bin of the plot. */
const MERGED = 5;

export interface ScoreBins {
  virus: readonly number[];
  others: readonly number[];
}

/** How many sequences of either call have each score. */
export function ScoresByCallChart({ found, isLog }: { found: ScoreBins; isLog: boolean }) {
  const { t, format } = useTexts();
  const data = useMemo(() => {
    const [viral, other] = [merged(found.virus, MERGED), merged(found.others, MERGED)];
    return viral.map((count, bin) => ({
      from: bin / viral.length,
      label: `${format.decimal(bin / viral.length, 2)} – ${format.decimal((bin + 1) / viral.length, 2)}`,
      virus: count,
      others: other[bin] ?? 0,
    }));
  }, [found, format]);
  const most = Math.max(1, ...data.map(({ virus, others }) => Math.max(virus, others)));
  const powers = Array.from(
    { length: Math.max(1, Math.ceil(Math.log10(most))) + 1 },
    (_, power) => 10 ** power,
  );
  const total = data.reduce((all, { virus, others }) => all + virus + others, 0);
  const last = data.at(-1);
  const height = (call: 'virus' | 'others') => (bin: (typeof data)[number]) =>
    isLog ? Math.max(LOG_FLOOR, bin[call]) : bin[call];
  // Others are paler and drawn first, so that both outlines show where both calls have a score.
  const calls = [
    { call: 'others', opacity: 0.5 },
    { call: 'virus', opacity: 0.75 },
  ] as const;
  return (
    <Plot
      kind="area"
      title={t('plots.scores')}
      summary={t('results.allScored', { count: total })}
      height={HEIGHT}
      legend={calls
        .map(({ call, opacity }) => ({ label: t(`prediction.${call}`), color: `var(--${call})`, opacity }))
        .toReversed()}
      table={() => ({
        columns: [t('column.virusScore'), t('prediction.virus'), t('prediction.others')],
        rows: data.map(({ label, virus, others }) => [label, format.integer(virus), format.integer(others)]),
      })}
      // The steps of the last bin end at the end of the scale.
      data={last ? [...data, { ...last, from: 1 }] : []}
      x={{
        ...NUMBERS_BELOW,
        ...scoreTicks(format),
        dataKey: 'from',
        label: below(t('column.virusScore')),
      }}
      y={{
        width: COUNT_AXIS_PX,
        axisLine: false,
        allowDataOverflow: true,
        label: beside(t('common.sequences')),
        ...countTicks(most, format),
        ...(isLog ? { scale: 'log', domain: [LOG_FLOOR, powers.at(-1) ?? 10], ticks: powers } : {}),
      }}
      tip={({ label, virus, others }) => ({
        title: label,
        lines: [
          `${t('prediction.virus')}: ${format.integer(virus)}`,
          `${t('prediction.others')}: ${format.integer(others)}`,
        ],
      })}
    >
      {calls.map(({ call, opacity }) => (
        <Area
          key={call}
          type="stepAfter"
          dataKey={height(call)}
          stroke={`var(--${call})`}
          strokeWidth={1.5}
          fill={`var(--${call})`}
          fillOpacity={opacity}
          activeDot={false}
          isAnimationActive={false}
        />
      ))}
    </Plot>
  );
}

/** The share of viruses among the called sequences of each length, or of those without a score. */
export function LengthShareChart({
  found,
  what,
}: {
  found: readonly LengthBin[];
  what: 'virus' | 'not_scored';
}) {
  const texts = useTexts();
  const { t, format } = texts;
  const bins = useMemo(() => sharesByLength(found, what), [found, what]);
  const [title, note, color, counted, share] =
    what === 'virus'
      ? ([
          t('plots.lengths'),
          t('plots.lengthsNote'),
          'virus',
          t('prediction.virus'),
          t('samples.share'),
        ] as const)
      : ([
          t('plots.notScored'),
          t('plots.notScoredNote'),
          'not-scored',
          t('prediction.not_scored'),
          t('plots.shareOfSequences'),
        ] as const);
  const data = bins.map((bin, index) => ({
    ...bin,
    middle: index + 0.5,
    label: lengthLabel(texts, bin),
    written: bin.share === null ? '' : format.percent(bin.share),
  }));
  return (
    <Plot
      kind="bar"
      title={title}
      summary={note}
      note={note}
      height={HEIGHT}
      table={() => ({
        columns: [t('column.length'), counted, t('common.sequences'), share],
        rows: data.map((bar) => [
          bar.label,
          format.integer(bar.counted),
          format.integer(bar.of),
          sharePercent(bar.share, format.percent),
        ]),
      })}
      data={data}
      x={{
        ...NUMBERS_BELOW,
        ...lengthTicks(bins, texts),
        dataKey: 'middle',
        interval: 0,
        label: below(t('plots.bases')),
      }}
      y={{
        width: COUNT_AXIS_PX,
        tickFormatter: (value: number) => format.percent(value),
        axisLine: false,
        domain: [0, 1],
        ticks: SHARE_TICKS,
        label: beside(share),
      }}
      tip={(bar) =>
        bar.share === null
          ? null
          : {
              title: bar.label,
              lines: [
                `${share}: ${sharePercent(bar.share, format.percent)}`,
                `${counted}: ${format.integer(bar.counted)}`,
                `${t('common.sequences')}: ${format.integer(bar.of)}`,
              ],
            }
      }
    >
      <Bar dataKey="share" fill={`var(--${color})`} isAnimationActive={false}>
        <LabelList dataKey="written" position="top" fontSize={11} fill="var(--text)" />
      </Bar>
    </Plot>
  );
}
