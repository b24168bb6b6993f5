import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconTable } from '@tabler/icons-react';
import { useMemo } from 'react';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { Empty } from '../../components/feedback/Empty.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Guarded } from '../../components/feedback/Guarded.tsx';
import { askToFinishNow } from '../../components/runActions.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { filterOf, FILTER_REST_MS, useResultsView } from '../../state/results/resultsView.ts';
import { whileGrowing } from '../../state/results/whileGrowing.ts';
import { useLiveRun } from '../../state/runs/liveRun.ts';
import { mayFinishNow } from '../../state/runs/runs.ts';
import { SequencePanel } from './sequence/SequencePanel.tsx';
import { SummaryStrip } from './SummaryStrip.tsx';
import { ResultsToolbar } from './table/ResultsToolbar.tsx';
import { SequenceTable } from './table/SequenceTable.tsx';
import classes from './ResultsTab.module.css';

/** The results of a run: how its sequences were called, the table, and beside it the open sequence. */
export function ResultsTab({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const { runId } = run;
  const view = useResultsView();
  const filter = useMemo(() => filterOf(view), [view]);
  const [settled] = useDebouncedValue(filter, FILTER_REST_MS);
  // Everything on the screen belongs to the moment of this count.
  const all = useQuery({
    ...queries.results.counts.queryOptions({ input: { runId, filter: {} } }),
    ...whileGrowing(run),
    placeholderData: keepPreviousData,
  });
  if (all.error) return <ErrorCard error={all.error} />;
  if (all.data?.total === 0) {
    return (
      <Empty icon={<IconTable size={28} aria-hidden />} title={t('results.emptyTitle')}>
        {run.state.phase === 'done' ? t('results.emptyDone') : t('results.emptyText')}
      </Empty>
    );
  }
  const total = all.data?.total ?? null;
  // Existing rows of a run that is not done change, too.
  const version = run.state.phase === 'done' ? 0 : all.dataUpdatedAt;
  return (
    <Guarded>
      {run.state.phase !== 'done' && (
        <ProvisionalBanner run={run} found={total} unsettled={all.data?.unsettled ?? 0} />
      )}
      <SummaryStrip run={run} filter={settled} version={version} />
      <ResultsToolbar run={run} total={total} />
      <div className={classes.page}>
        <Guarded>
          <SequenceTable run={run} filter={settled} version={version} />
          <SequencePanel run={run} />
        </Guarded>
      </div>
    </Guarded>
  );
}

/** Shown above the results of a run that is not done: how much is done, and a way to finish with that. */
function ProvisionalBanner({
  run,
  found,
  unsettled,
}: {
  run: RunSummary;
  found: number | null;
  unsettled: number;
}) {
  const { t } = useTexts();
  const isRead = useLiveRun((state) => state.live?.progress.prepare.finished ?? false);
  const known = useLiveRun((state) => state.live?.progress.prepare.records ?? 0);
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
      {unsettled > 0 && `${t('results.unsettledText', { unsettled })} `}
      {t(isAtWork(run) ? 'results.provisionalAtWork' : 'results.provisionalAtRest')}
    </Banner>
  );
}
