import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { SegmentedControl, Skeleton, Switch, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { Card } from '../../../components/Card.tsx';
import { HEIGHT } from '../../../components/charts/axes.ts';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { filterOf, useResultsView } from '../../../state/results/resultsView.ts';
import classes from './DistributionsCard.module.css';
import { CompositionChart, LengthShareChart, RankedChart, ScoresByCallChart } from './distributionPlots.tsx';
import { isEmpty } from './distributions.ts';
import { LengthScoreChart } from './SquaresChart.tsx';

const KINDS = ['scores', 'lengths', 'grid', 'ranked', 'composition'] as const;
type Kind = (typeof KINDS)[number];
/** Every chart merges these as it needs. */
const BINS = 100;

/** Plots of the sequences that the table shows, folded away until somebody wants them: the table comes first. */
export function DistributionsCard(props: { run: RunSummary; version: number }) {
  const { t } = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={classes.details}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>{t('plots.more')}</summary>
      {isOpen && <Distributions {...props} />}
    </details>
  );
}

/** One at a time, large enough to read. */
function Distributions({ run, version }: { run: RunSummary; version: number }) {
  const { t } = useTexts();
  const [chosen, setKind] = useState<Kind>('scores');
  const isOneSample = run.plan.inputs.length < 2;
  const kinds = KINDS.filter((one) => one !== 'composition' || !isOneSample);
  const kind = kinds.includes(chosen) ? chosen : 'scores';
  const [isLog, setLog] = useState(false);
  const view = useResultsView();
  const filter = useMemo(() => filterOf(view, { withScore: true }), [view]);
  const asked = queries.results.lengthScores.queryOptions({
    input: { runId: run.runId, filter, bins: BINS },
  });
  const { data } = useQuery({
    ...asked,
    queryKey: [...asked.queryKey, run.state.phase, version],
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title={t('plots.title')}
      aside={
        kind === 'scores' && (
          <Switch
            size="xs"
            label={t('plots.log')}
            checked={isLog}
            onChange={(event) => setLog(event.currentTarget.checked)}
          />
        )
      }
    >
      <SegmentedControl
        className={classes.kinds ?? ''}
        size="xs"
        withItemsBorders={false}
        aria-label={t('plots.title')}
        value={kind}
        onChange={(value) => setKind(KINDS.find((known) => known === value) ?? 'scores')}
        data={kinds.map((value) => ({ value, label: t(`plots.${value}`) }))}
      />
      {kind === 'composition' ? (
        <Composition run={run} version={version} />
      ) : !data ? (
        <Skeleton height={HEIGHT} />
      ) : isEmpty(data) ? (
        <Text py={24} c="dimmed">
          {t('plots.none')}
        </Text>
      ) : kind === 'scores' ? (
        <ScoresByCallChart found={data} isLog={isLog} />
      ) : kind === 'lengths' ? (
        <LengthShareChart found={data} />
      ) : kind === 'grid' ? (
        <LengthScoreChart found={data} />
      ) : (
        <RankedChart found={data} />
      )}
    </Card>
  );
}

/** Of all sequences: beside each other, what is filtered would say little. */
function Composition({ run, version }: { run: RunSummary; version: number }) {
  const asked = queries.results.samples.queryOptions({ input: { runId: run.runId } });
  const { data } = useQuery({ ...asked, queryKey: [...asked.queryKey, run.state.phase, version] });
  return data ? <CompositionChart samples={data.items} /> : <Skeleton height={HEIGHT} />;
}
