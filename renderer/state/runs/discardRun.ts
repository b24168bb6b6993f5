import { modals } from '@mantine/modals';
import { DESTRUCTIVE } from '../../components/dialogs.ts';
import { sayError } from '../../components/feedback/errorToast.tsx';
import type { Texts } from '../../i18n/index.ts';
import { engine } from '../connection.ts';
import { go } from '../navigation.ts';

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
