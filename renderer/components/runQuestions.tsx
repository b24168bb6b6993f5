import { modals } from '@mantine/modals';
import { useQuery } from '@tanstack/react-query';
import { useTexts, type Texts } from '../i18n/index.ts';
import { engine, queries } from '../state/connection.ts';
import { go } from '../state/navigation.ts';
import { orderRun } from '../state/runs/runOrders.ts';
import { sayError } from '../state/say.ts';
import { DESTRUCTIVE } from '../styles/theme.ts';
import { useLiveRun } from '../state/runs/liveRun.ts';

/** What is there of a run, what would be missing, and what happens to both. */
function FinishNowQuestion({ runId }: { runId: string }) {
  const { t } = useTexts();
  const found = useQuery(queries.results.counts.queryOptions({ input: { runId, filter: {} } })).data?.total;
  const live = useLiveRun((state) => (state.live?.run.runId === runId ? state.live : null));
  const known = live?.progress.prepare.records ?? 0;
  return (
    <>
      {live && found !== undefined && (
        <p>
          {t('run.finishNowCounts', {
            found,
            known,
            missing: Math.max(0, known - found),
            done: live.progress.inputs.done,
            files: live.progress.inputs.total,
          })}
        </p>
      )}
      <p>{t('run.finishNowHelp')}</p>
    </>
  );
}

/** Asks whether a run should end with what is computed. */
export function askToFinishNow(runId: string, t: Texts['t']): void {
  modals.openConfirmModal({
    title: t('run.finishNowTitle'),
    children: <FinishNowQuestion runId={runId} />,
    labels: { confirm: t('run.finishNow'), cancel: t('common.cancel') },
    onConfirm: () => void orderRun(runId, 'finishNow').catch(sayError),
  });
}

/** Asks whether a run at work should go with everything that it computed, and takes it away. */
export function askToDiscard(runId: string, t: Texts['t']): void {
  const discard = async () => {
    await engine.runs.cancel({ runId });
    await engine.runs.remove({ runId, files: 'all' });
    go({ screen: 'runs' });
  };
  modals.openConfirmModal({
    title: t('run.discardTitle'),
    children: t('run.discardHelp'),
    labels: { confirm: t('run.discard'), cancel: t('common.cancel') },
    confirmProps: DESTRUCTIVE,
    onConfirm: () => void discard().catch(sayError),
  });
}
