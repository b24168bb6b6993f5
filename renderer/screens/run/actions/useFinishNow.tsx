import { modals } from '@mantine/modals';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { useTexts } from '../../../i18n/index.ts';
import { useLiveRun } from '../../../state/liveRun.ts';
import { useRunOrder } from './useRunOrder.ts';

/** Finishing a run with what is computed, after a question. Only once its files are read is it known what would be missing. */
export function useFinishNow(run: RunSummary) {
  const { t } = useTexts();
  const order = useRunOrder(run.runId);
  const isRead = useLiveRun((state) => state.live?.progress.prepare.finished ?? false);
  const { phase } = run.state;
  const ask = () =>
    modals.openConfirmModal({
      title: t('run.finishNowTitle'),
      children: t('run.finishNowHelp'),
      labels: { confirm: t('run.finishNow'), cancel: t('common.cancel') },
      onConfirm: () => order.mutate('finishNow'),
    });
  return {
    isOffered: isRead && !run.missing && phase !== 'done' && phase !== 'finishing' && phase !== 'failed',
    isPending: order.isPending,
    ask,
  };
}
