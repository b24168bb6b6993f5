import { useMutation } from '@tanstack/react-query';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { engine } from '../connection.ts';
import { openRunDialog } from './runDialog.ts';

type RunOrder = 'pause' | 'drain' | 'cancel' | 'finishNow';

/** Stops a run, or makes it finish. */
export const orderRun = (runId: string, what: RunOrder): Promise<unknown> => engine.runs[what]({ runId });

/** For buttons that start or stop a run. */
export function useRunOrder(runId: string) {
  return useMutation({ mutationFn: (what: RunOrder) => orderRun(runId, what) });
}

/** Resumes a run. If the run was made elsewhere and names a cluster, shows the cluster first and lets the user choose where to compute. */
export async function resumeRun({ runId, foreignPlace }: RunSummary): Promise<void> {
  if (foreignPlace) openRunDialog(runId, 'devices');
  else await engine.runs.resume({ runId });
}

/** What would be missing is known only once all files have been read. */
export function mayFinishNow({ missing, state: { phase } }: RunSummary, isRead: boolean): boolean {
  return isRead && !missing && phase !== 'done' && phase !== 'finishing' && phase !== 'failed';
}

/** Excludes a device of a run at work, or includes it again. */
export const includeDevice = (runId: string, device: string, included: boolean): Promise<unknown> =>
  engine.runs.includeDevice({ runId, device, included });
