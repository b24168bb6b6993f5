import { useQuery } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { isAtWork } from '../../../electron/contract/runState.ts';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { Banner } from '../../components/feedback/Banner.tsx';
import { useTexts } from '../../i18n/index.ts';
import { queries } from '../../state/connection.ts';
import { useLiveRun } from '../../state/runs/liveRun.ts';
import { askToFinishNow } from '../../components/runQuestions.tsx';
import { mayFinishNow } from '../../state/runs/runOrders.ts';

/** Above the results of a run that is not done: how much there is, and the way to leave it at that. */
export function ProvisionalBanner({ run }: { run: RunSummary }) {
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
