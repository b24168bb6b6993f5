import { useMutation } from '@tanstack/react-query';
import { engine } from '../../../state/connection.ts';

type Order = 'pause' | 'drain' | 'cancel' | 'resume' | 'finishNow';

/** For buttons that start or stop a run. */
export function useRunOrder(runId: string) {
  return useMutation({ mutationFn: (what: Order) => engine.runs[what]({ runId }) });
}
