import { Box, Button, Stack, Text } from '@mantine/core';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { queries } from '../../state/connection.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { IconTable } from '@tabler/icons-react';
import { useEffect, useMemo } from 'react';
import type { RunSummary, SequenceFilter } from '../../../electron/contract/index.ts';
import { Empty } from '../../components/feedback/Empty.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useLiveRun } from '../../state/runs/liveRun.ts';
import {
  filterOf,
  isFiltered,
  type ResultsView,
  useResultsView,
  viewRun,
} from '../../state/results/resultsView.ts';
import { CallsCard } from './CallsCard.tsx';
import { DistributionsCard } from './distributions/DistributionsCard.tsx';
import { evidenceRule } from './table/evidenceRule.ts';
import { OtherToolsCard } from './OtherToolsCard.tsx';
import { ResultsToolbar } from './table/ResultsToolbar.tsx';
import { ScoreCard } from './ScoreCard.tsx';
import { SamplesCard } from './SamplesCard.tsx';
import { SequenceDrawer } from './sequence/SequenceDrawer.tsx';
import { SequenceTable } from './table/SequenceTable.tsx';
import { useHiddenColumns } from './table/useHiddenColumns.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { askToFinishNow } from '../../components/runActions.tsx';
import { mayFinishNow } from '../../state/runs/runOrders.ts';

const REFRESH_MS = 5000;

export function ResultsTab({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t } = texts;
  const { runId } = run;
  useEffect(() => viewRun(runId), [runId]);
  const view = useResultsView();
  const chartsShown = useResultsView((state) => state.chartsShown);
  const atWork = useLiveRun((state) => state.live !== null && isAtWork(state.live.run));
  const ofCalls = callsFilter(view);
  const counts = useQuery({
    ...queries.results.counts.queryOptions({ input: { runId, filter: ofCalls } }),
    refetchInterval: atWork && REFRESH_MS,
    placeholderData: keepPreviousData,
  });
  if (counts.error) return <ErrorCard error={counts.error} />;
  if (counts.data?.total === 0 && !isFiltered(view)) {
    return (
      <Empty icon={<IconTable size={28} aria-hidden />} title={t('results.emptyTitle')}>
        {run.state.phase === 'done' ? t('results.emptyDone') : t('results.emptyText')}
      </Empty>
    );
  }
  return (
    <>
      {run.state.phase !== 'done' && <ProvisionalBanner run={run} />}
      {chartsShown && (
        <div className="columns" data-wide="last">
          <CallsCard run={run} counts={counts.data ?? null} filter={ofCalls} />
          <ScoreCard run={run} version={counts.data?.total ?? 0} />
        </div>
      )}
      {chartsShown && <DistributionsCard run={run} version={counts.data?.total ?? 0} />}
      {chartsShown && <SamplesCard run={run} version={counts.data?.total ?? 0} />}
      <OtherToolsCard run={run} version={counts.data?.total ?? 0} />
      <Text mt={-4} fz="xs" c="dimmed">
        {t('results.noteScore')} {t('results.noteCalls')}
      </Text>
      <Box component="details" mt={-6} fz="xs" c="dimmed" maw="110ch">
        <summary>{t('results.ruleTitle')}</summary>
        <Text mt={4} fz="inherit">
          {t('results.ruleText')}
        </Text>
        <Text mt={4} fz="inherit">
          {evidenceRule(texts, run.plan.chunkLength)}
        </Text>
      </Box>
      <Sequences run={run} version={counts.data?.total ?? 0} />
      <SequenceDrawer run={run} />
    </>
  );
}

/** The calls of all that is searched for, whatever their calls and scores: these two have cards of their own. */
function callsFilter(view: ResultsView): SequenceFilter {
  return filterOf({ ...view, predictions: [] }, { withScore: false });
}

function Sequences({ run, version }: { run: RunSummary; version: number }) {
  const view = useResultsView();
  const hiddenColumns = useHiddenColumns();
  const filter = useMemo(() => filterOf(view, { withScore: true }), [view]);
  const [settled] = useDebouncedValue(filter, 180);
  return (
    <Stack component="section" gap={10} flex={1}>
      <ResultsToolbar run={run} />
      <SequenceTable
        run={run}
        filter={settled}
        sort={view.sort}
        hiddenColumns={hiddenColumns}
        version={version}
      />
    </Stack>
  );
}

/** Above the results of a run that is not done: how much there is, and the way to leave it at that. */
function ProvisionalBanner({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const isRead = useLiveRun((state) => state.live?.progress.prepare.finished ?? false);
  const counts = useQuery({
    ...queries.results.counts.queryOptions({ input: { runId: run.runId, filter: {} } }),
    refetchInterval: isAtWork(run) && 5000,
  });
  const known = useLiveRun((state) => state.live?.progress.prepare.records ?? 0);
  const found = counts.data?.total ?? null;
  return (
    <Banner
      tone="info"
      title={t('results.provisionalTitle')}
      actions={
        mayFinishNow(run, isRead) && (
          <Button size="compact-md" variant="default" onClick={() => askToFinishNow(run.runId, t)}>
            {t('run.finishNow')}
          </Button>
        )
      }
    >
      {found !== null && t('results.provisionalText', { found, known: Math.max(found, known) })}{' '}
      {t(isAtWork(run) ? 'results.provisionalAtWork' : 'results.provisionalAtRest')}
    </Banner>
  );
}
