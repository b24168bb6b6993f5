import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { RangeSlider } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
import {
  sharePercent,
  viralShare,
  type RunSummary,
  type SequenceFilter,
} from '../../../electron/contract/index.ts';
import { Hint } from '../../components/Hint.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import {
  changed,
  changeFilter,
  filterOf,
  SCORE_BINS,
  showScores,
  FILTER_REST_MS,
  useResultsView,
} from '../../state/results/resultsView.ts';
import { SAMPLE_CALLS, type ScoreBins } from './distributions/distributionPlots.tsx';
import classes from './SummaryStrip.module.css';

interface SummaryStripProps {
  run: RunSummary;
  /** The filter of the table. */
  filter: SequenceFilter;
  /** Increases as results come in. */
  version: number;
}

/** How the sequences were called and scored, in one line that serves as legend, filter and histogram. */
export function SummaryStrip(props: SummaryStripProps) {
  return (
    <div className={classes.strip}>
      <Calls {...props} />
      <ScoreRange {...props} />
    </div>
  );
}

/** Counts by call among what all other filters let through; a press shows only that call. */
function Calls({ run, filter, version }: SummaryStripProps) {
  const { t, format } = useTexts();
  const { runId, plan, state } = run;
  const view = useResultsView();
  const chosen = view.filter.predictions ?? [];
  const count = (counted: SequenceFilter) => {
    const asked = queries.results.counts.queryOptions({ input: { runId, filter: counted } });
    return {
      ...asked,
      queryKey: [...asked.queryKey, state.phase, version] as const,
      placeholderData: keepPreviousData,
    };
  };
  const unsettled = useMemo(() => changed(filterOf(view), { predictions: null }), [view]);
  const [others] = useDebouncedValue(unsettled, FILTER_REST_MS);
  const counts = useQuery(count(others)).data?.byPrediction;
  const maxLength = Math.min(filter.maxLength ?? Infinity, plan.chunkLength - 1);
  const short = useQuery(count({ ...others, maxLength })).data?.total ?? 0;
  const share = counts ? viralShare(counts) : null;
  return (
    <div className={classes.calls} role="group" aria-label={t('common.calls')}>
      <div className={classes.composition} aria-hidden>
        {counts &&
          SAMPLE_CALLS.filter(({ call }) => counts[call] > 0).map(({ call, color }) => (
            <span key={call} style={{ background: color, flexGrow: counts[call] }} />
          ))}
      </div>
      <div className={classes.legend}>
        {SAMPLE_CALLS.map(({ call, color }) => {
          const isOnly = chosen.length === 1 && chosen[0] === call;
          if (counts && counts[call] === 0 && !isOnly) return null;
          return (
            <Hint key={call} label={t(`results.hint.${call}`)}>
              <button
                type="button"
                className={classes.call}
                aria-pressed={isOnly}
                onClick={() => changeFilter({ predictions: isOnly ? [] : [call] })}
              >
                <i style={{ background: color }} aria-hidden />
                <strong>{counts ? format.integer(counts[call]) : '…'}</strong> {t(`prediction.${call}`)}
                {call === 'virus' && share !== null && (
                  <span className="muted"> {sharePercent(share, format.percent)}</span>
                )}
              </button>
            </Hint>
          );
        })}
        {short > 0 && (
          <Hint label={t('results.shortText', { length: plan.chunkLength })}>
            <button
              type="button"
              className={classes.call}
              aria-pressed={filter.maxLength === maxLength}
              onClick={() => changeFilter({ maxLength: filter.maxLength === maxLength ? null : maxLength })}
            >
              <strong>{format.integer(short)}</strong> {t('results.short')}
            </button>
          </Hint>
        )}
      </div>
    </div>
  );
}

/** The distribution of the scores, whose two handles show only the scores between. */
function ScoreRange({ run, version }: SummaryStripProps) {
  const { t, format } = useTexts();
  const { runId } = run;
  const view = useResultsView();
  const unsettled = useMemo(() => changed(filterOf(view), { minScore: null, belowScore: null }), [view]);
  const [filter] = useDebouncedValue(unsettled, FILTER_REST_MS);
  const asked = queries.results.histogram.queryOptions({ input: { runId, filter, bins: SCORE_BINS } });
  const found = useQuery({
    ...asked,
    queryKey: [...asked.queryKey, run.state.phase, version],
    placeholderData: keepPreviousData,
  }).data;
  const path = useMemo(() => bars(found), [found]);
  const from = Math.round((view.filter.minScore ?? 0) * SCORE_BINS);
  const end = Math.round((view.filter.belowScore ?? 1) * SCORE_BINS);
  const score = (edge: number) => format.decimal(edge / SCORE_BINS, 2);
  return (
    <Hint label={t('results.hint.histogram')}>
      <div className={classes.scores}>
        <svg viewBox={`0 0 ${SCORE_BINS} 1`} preserveAspectRatio="none" aria-hidden>
          <rect className={classes.brushed} x={from} width={end - from} height={1} />
          <path d={path} />
        </svg>
        <RangeSlider
          size={4}
          thumbSize={14}
          min={0}
          max={SCORE_BINS}
          minRange={1}
          value={[from, end]}
          onChange={([first, last]) => showScores(first, last)}
          label={score}
          thumbFromLabel={t('results.limit.>=', { column: t('column.virusScore') })}
          thumbToLabel={t('results.limit.<', { column: t('column.virusScore') })}
        />
      </div>
    </Hint>
  );
}

/** Draws all bars as one path, on a square root scale, so that even a single sequence among thousands shows. */
function bars({ virus, others }: ScoreBins = { virus: [], others: [] }): string {
  const bins = virus.map((count, bin) => count + (others[bin] ?? 0));
  const most = Math.sqrt(Math.max(1, ...bins));
  return bins
    .map((count, bin) =>
      count === 0 ? '' : `M${bin + 0.1} 1V${(1 - Math.sqrt(count) / most).toFixed(3)}h.8V1z`,
    )
    .join('');
}
