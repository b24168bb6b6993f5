import { modals } from '@mantine/modals';
import { createElement } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { FinishNowQuestion } from '../../components/FinishNowQuestion.tsx';
import { sayError } from '../../components/feedback/errorToast.tsx';
import type { Texts } from '../../i18n/index.ts';
import { engine } from '../connection.ts';

export type RunOrder = 'pause' | 'drain' | 'cancel' | 'resume' | 'finishNow';

/** Starts or stops a run. */
export const orderRun = (runId: string, what: RunOrder): Promise<unknown> => engine.runs[what]({ runId });

/** Only once its files are read is it known what would be missing. */
export function mayFinishNow({ missing, state: { phase } }: RunSummary, isRead: boolean): boolean {
  return isRead && !missing && phase !== 'done' && phase !== 'finishing' && phase !== 'failed';
}

/** Asks whether a run should end with what is computed. */
export function askToFinishNow(runId: string, t: Texts['t']): void {
  modals.openConfirmModal({
    title: t('run.finishNowTitle'),
    children: createElement(FinishNowQuestion, { runId }),
    labels: { confirm: t('run.finishNow'), cancel: t('common.cancel') },
    onConfirm: () => void orderRun(runId, 'finishNow').catch(sayError),
  });
}

/** Leaves a device out of a run at work, or takes it in again. */
export const includeDevice = (runId: string, device: string, included: boolean): Promise<unknown> =>
  engine.runs.includeDevice({ runId, device, included });
