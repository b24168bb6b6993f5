import { useMutation } from '@tanstack/react-query';
import { orderRun, type RunOrder } from '../../../state/runs/runOrders.ts';

/** For buttons that start or stop a run. */
export function useRunOrder(runId: string) {
  return useMutation({ mutationFn: (what: RunOrder) => orderRun(runId, what) });
}
