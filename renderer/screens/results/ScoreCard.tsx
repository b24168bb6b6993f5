import { queries } from '../../state/connection.ts';
import { useQuery, keepPreviousData } from '@tanstack/react-query';
import { NumberInput, Skeleton, Slider, Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { Card } from '../../components/Card.tsx';
import { Histogram, type HistogramBin } from '../../components/charts/Histogram.tsx';
import { useTexts } from '../../i18n/index.ts';
import {
  changeView,
  countFrom,
  filterOf,
  SCORE_BINS,
  useResultsView,
} from '../../state/results/resultsView.ts';
import classes from './ResultsTab.module.css';

const HEIGHT = 132;
const MARKS = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** Distribution of the scores, with the slider that hides what lies below. */
export function ScoreCard({ run, version }: { run: RunSummary; version: number }) {
  const { t, format } = useTexts();
  const { runId } = run;
  const view = useResultsView();
  const { minScore } = view;
  const asked = queries.results.histogram.queryOptions({
    input: { runId, filter: filterOf(view, { withScore: false }), bins: SCORE_BINS },
  });
  const histogram = useQuery({
    ...asked,
    queryKey: [...asked.queryKey, run.state.phase, version],
    placeholderData: keepPreviousData,
  });
  const counts = histogram.data?.bins;
  const bins = useMemo(
    () =>
      counts?.map((count, index) => ({ from: index / SCORE_BINS, to: (index + 1) / SCORE_BINS, count })) ??
      [],
    [counts],
  );
  // Bins below the slider turn grey. Half a bin of slack, because hundredths are no exact binary numbers.
  const color = useCallback(
    (bin: HistogramBin) => (bin.from + 0.5 / SCORE_BINS < minScore ? 'var(--not-scored)' : 'var(--accent)'),
    [minScore],
  );
  const formatBorder = useMemo(() => (value: number) => format.decimal(value, 2), [format]);
  const marks = useMemo(() => MARKS.map((value) => ({ value, label: formatBorder(value) })), [formatBorder]);
  const scored = counts ? countFrom(counts, 0) : 0;
  const isBetweenBins = Math.abs(minScore * SCORE_BINS - Math.round(minScore * SCORE_BINS)) > 1e-9;
  const exact = useQuery({
    ...queries.results.counts.queryOptions({ input: { runId, filter: filterOf(view, { withScore: true }) } }),
    enabled: isBetweenBins,
    placeholderData: keepPreviousData,
  });
  const shown = isBetweenBins ? (exact.data?.total ?? 0) : counts ? countFrom(counts, minScore) : 0;
  return (
    <Card
      title={t('results.scores')}
      aside={
        <Text component="output" c="var(--text)" fz="inherit">
          {minScore > 0
            ? t('results.atLeast', {
                score: format.score(minScore),
                shown: format.integer(shown),
                count: shown,
              })
            : t('results.allScored', { shown: format.integer(scored), count: scored })}
        </Text>
      }
    >
      {!counts ? (
        <Skeleton height={HEIGHT} />
      ) : (
        <Histogram
          title={t('results.scores')}
          summary={t('results.scoresSummary', {
            scored: format.integer(scored),
            shown: format.integer(shown),
            score: format.score(minScore),
          })}
          bins={bins}
          formatBorder={formatBorder}
          countLabel={t('results.sequences')}
          height={HEIGHT}
          withoutScale
          color={color}
        />
      )}
      <div className={classes.slider}>
        <Slider
          marks={marks}
          min={0}
          max={1}
          step={1 / SCORE_BINS}
          value={minScore}
          onChange={(value) => changeView({ minScore: Math.round(value * SCORE_BINS) / SCORE_BINS })}
          label={(value) => format.decimal(value, 2)}
          thumbLabel={t('results.minScore')}
          size={6}
          inverted
        />
        <NumberInput
          className={classes.exactScore ?? ''}
          size="xs"
          label={t('results.exactScore')}
          min={0}
          max={1}
          step={1 / SCORE_BINS}
          decimalScale={4}
          decimalSeparator={format.decimal(0.5).charAt(1)}
          clampBehavior="strict"
          value={minScore}
          onChange={(value) => changeView({ minScore: typeof value === 'number' ? value : 0 })}
        />
      </div>
    </Card>
  );
}
