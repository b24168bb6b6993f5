import { useMutation } from '@tanstack/react-query';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { engine } from '../connection.ts';
import { openRunDialog } from './runDialog.ts';

type RunOrder = 'pause' | 'drain' | 'cancel' | 'finishNow';

/** Stops a run, or has it finish. */
export const orderRun = (runId: string, what: RunOrder): Promise<unknown> => engine.runs[what]({ runId });

/** For buttons that start or stop a run. */
export function useRunOrder(runId: string) {
  return useMutation({ mutationFn: (what: RunOrder) => orderRun(runId, what) });
}

/** Goes on with a run. Where one that was not made here names a cluster, it is shown first, and the user chooses where to compute. */
export async function resumeRun({ runId, foreignPlace }: RunSummary): Promise<void> {
  if (foreignPlace) openRunDialog(runId, 'devices');
  else await engine.runs.resume({ runId });
}

/** Only once its files are read is it known what would be missing. */
export function mayFinishNow({ missing, state: { phase } }: RunSummary, isRead: boolean): boolean {
  return isRead && !missing && phase !== 'done' && phase !== 'finishing' && phase !== 'failed';
}

/** Leaves a device out of a run at work, or takes it in again. */
export const includeDevice = (runId: string, device: string, included: boolean): Promise<unknown> =>
  engine.runs.includeDevice({ runId, device, included });
