import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Group, SimpleGrid, Skeleton, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { HEIGHT } from '../../../components/charts/axes.ts';
import { Guarded } from '../../../components/feedback/Guarded.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import {
  clearFilters,
  filterOf,
  isFiltered,
  SCORE_BINS,
  useResultsView,
} from '../../../state/results/resultsView.ts';
import { whileGrowing } from '../../../state/results/whileGrowing.ts';
import { LengthShareChart, ScoresByCallChart } from './distributionPlots.tsx';
import { sum } from './distributions.ts';

/** Plots of the sequences in the table. */
export function PlotsTab({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const [isLog, setLog] = useState(false);
  const view = useResultsView();
  const filter = filterOf(view);
  const { histogram, lengths: byLength, counts: counted } = queries.results;
  const scored = histogram.queryOptions({ input: { runId, filter, bins: SCORE_BINS } });
  const scores = useQuery({ ...scored, ...growing(run, scored) }).data;
  const measured = byLength.queryOptions({ input: { runId, filter } });
  const lengths = useQuery({ ...measured, ...growing(run, measured) }).data;
  const counts = useQuery({
    ...counted.queryOptions({ input: { runId, filter } }),
    placeholderData: keepPreviousData,
  }).data;
  return (
    <section aria-label={t('plots.title')}>
      <Group gap="8px 16px" mb={12}>
        <Text component="span" role="status" fz="sm">
          {counts && t('results.shown', { count: counts.total })}
        </Text>
        {isFiltered(view) && (
          <Button size="compact-sm" variant="subtle" onClick={clearFilters}>
            {t('results.clearFilters')}
          </Button>
        )}
        <Switch
          ml="auto"
          size="xs"
          label={t('plots.log')}
          checked={isLog}
          onChange={(event) => setLog(event.currentTarget.checked)}
        />
      </Group>
      {!scores || !lengths ? (
        <Skeleton height={HEIGHT} />
      ) : sum([...scores.virus, ...scores.others]) === 0 ? (
        <Text py={24} c="dimmed">
          {t('plots.none')}
        </Text>
      ) : (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing={32} verticalSpacing={28}>
          <Titled title={t('plots.scores')}>
            <ScoresByCallChart found={scores} isLog={isLog} />
          </Titled>
          <Titled title={t('plots.lengths')}>
            <LengthShareChart what="virus" found={lengths} />
          </Titled>
          {lengths.some((bin) => bin.not_scored > 0) && (
            <Titled title={t('plots.notScored')}>
              <LengthShareChart what="not_scored" found={lengths} />
            </Titled>
          )}
        </SimpleGrid>
      )}
    </section>
  );
}

const growing = <Key extends readonly unknown[]>(run: RunSummary, { queryKey }: { queryKey: Key }) => ({
  queryKey: [...queryKey, run.state.phase] as const,
  ...whileGrowing(run),
  placeholderData: keepPreviousData,
});

function Titled({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <Text component="h2" fz="md" fw={620} mb={6}>
        {title}
      </Text>
      <Guarded>{children}</Guarded>
    </div>
  );
}
