import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button, Group, SimpleGrid, Skeleton, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import type { RunSummary, SequenceFilter } from '../../../../electron/contract/index.ts';
import { HEIGHT } from '../../../components/charts/axes.ts';
import { Guarded } from '../../../components/feedback/Guarded.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { goToRun } from '../../../state/navigation.ts';
import { clearFilters, filterOf, isFiltered, useResultsView } from '../../../state/results/resultsView.ts';
import { whileGrowing } from '../../../state/results/whileGrowing.ts';
import { LengthShareChart, ScoresByCallChart } from './distributionPlots.tsx';
import { isEmpty } from './distributions.ts';

/** Each chart merges these bins as it needs. */
const BINS = 100;

/** Plots of the sequences in the table. */
export function PlotsTab({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const [isLog, setLog] = useState(false);
  const view = useResultsView();
  const filter = filterOf(view);
  const found = useLengthScores(run, filter);
  const counts = useQuery({
    ...queries.results.counts.queryOptions({ input: { runId, filter } }),
    placeholderData: keepPreviousData,
  }).data;
  return (
    <section aria-label={t('plots.title')}>
      <Group gap="8px 16px" mb={12}>
        <Text component="span" role="status" fz="sm">
          {counts && t('results.shown', { count: counts.total })}
        </Text>
        <Button size="compact-sm" variant="default" onClick={() => goToRun(runId, 'results')}>
          {t('plots.showInTable')}
        </Button>
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
      {!found ? (
        <Skeleton height={HEIGHT} />
      ) : isEmpty(found) ? (
        <Text py={24} c="dimmed">
          {t('plots.none')}
        </Text>
      ) : (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing={32} verticalSpacing={28}>
          <Titled title={t('plots.scores')}>
            <ScoresByCallChart found={found} isLog={isLog} />
          </Titled>
          <Titled title={t('plots.lengths')}>
            <LengthShareChart what="virus" found={found} />
          </Titled>
          {found.notScored.some((count) => count > 0) && (
            <Titled title={t('plots.notScored')}>
              <LengthShareChart what="notScored" found={found} />
            </Titled>
          )}
        </SimpleGrid>
      )}
    </section>
  );
}

function useLengthScores(run: RunSummary, filter: SequenceFilter) {
  const asked = queries.results.lengthScores.queryOptions({
    input: { runId: run.runId, filter, bins: BINS },
  });
  return useQuery({
    ...asked,
    queryKey: [...asked.queryKey, run.state.phase],
    ...whileGrowing(run),
    placeholderData: keepPreviousData,
  }).data;
}

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
