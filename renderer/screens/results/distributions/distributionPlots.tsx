import { useMemo } from 'react';
import { Area, Bar, LabelList, Line } from 'recharts';
import {
  scoresByCall,
  sharePercent,
  sharesByLength,
  type LengthScores,
} from '../../../../electron/contract/index.ts';
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
import {
  chosenLengths,
  chosenScores,
  lengthLabel,
  lengthsOf,
  lengthTicks,
  merged,
  MERGED,
  rankedScores,
  scoresOf,
  type Lengths,
  type Scores,
} from './distributions.ts';

/** The calls by which the sequences of a sample are counted, in the order in which they are drawn, with their colours. */
export const SAMPLE_CALLS = [
  { call: 'virus', color: 'var(--virus)' },
  { call: 'others', color: 'var(--others)' },
  { call: 'not_scored', color: 'var(--not-scored)' },
  { call: 'failed', color: 'var(--failed)' },
] as const;

/** Gives a single sequence a height on a logarithmic scale. */
const LOG_FLOOR = 0.5;

/** How many sequences of either call have each score. */
export function ScoresByCallChart({
  found,
  chosen,
  isLog,
  onPick,
}: {
  found: LengthScores;
  chosen: Scores;
  isLog: boolean;
  onPick: (scores: Scores) => void;
}) {
  const { t, format } = useTexts();
  const data = useMemo(() => {
    const { virus, others } = scoresByCall(found);
    const [viral, other] = [merged(virus, MERGED), merged(others, MERGED)];
    return viral.map((count, bin) => ({
      from: bin / viral.length,
      ...scoresOf(bin, viral.length),
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
      onPick={({ minScore, belowScore }) => onPick({ minScore, belowScore })}
      chosen={{ x: chosenScores(chosen) }}
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
  chosen,
  onPick,
}: {
  found: LengthScores;
  what: 'virus' | 'notScored';
  chosen: Lengths;
  onPick: (lengths: Lengths) => void;
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
      onPick={(bin) => onPick(lengthsOf(bin))}
      chosen={{ x: chosenLengths(bins, chosen) }}
      barGap="12%"
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

/** How many sequences reach each score. */
export function RankedChart({ found }: { found: LengthScores }) {
  const { t, format } = useTexts();
  const data = useMemo(() => rankedScores(found), [found]);
  const total = data.at(-1)?.rank ?? 0;
  return (
    <Plot
      kind="line"
      title={t('plots.ranked')}
      summary={t('results.allScored', { count: total })}
      note={t('plots.rankedNote')}
      height={HEIGHT}
      table={() => ({
        columns: [t('plots.atLeast'), t('common.sequences')],
        rows: data.map(({ score, rank }) => [format.decimal(score, 2), format.integer(rank)]),
      })}
      // The curve begins at the first sequence, at that sequence's score.
      data={data[0] ? [{ ...data[0], rank: 0 }, ...data] : []}
      x={{
        ...NUMBERS_BELOW,
        dataKey: 'rank',
        domain: [0, Math.max(1, total)],
        allowDecimals: false,
        tickFormatter: format.compact,
        minTickGap: 24,
        label: below(t('plots.bestFirst')),
      }}
      y={{
        ...scoreTicks(format),
        width: COUNT_AXIS_PX,
        axisLine: false,
        label: beside(t('column.virusScore')),
      }}
      tip={({ score, rank }) =>
        rank === 0
          ? null
          : {
              title: `${t('plots.atLeast')} ${format.decimal(score, 2)}`,
              lines: [`${format.integer(rank)} ${t('results.sequences')}`],
            }
      }
    >
      <Line
        type="stepBefore"
        dataKey="score"
        stroke="var(--text-muted)"
        strokeWidth={2}
        dot={false}
        isAnimationActive={false}
      />
    </Plot>
  );
}
