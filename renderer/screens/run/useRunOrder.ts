import { useCallback } from 'react';
import { engine } from '../../state/connection.ts';
import { useAction } from '../../state/useAction.ts';

type Order = 'pause' | 'drain' | 'stop' | 'cancel' | 'resume';

/** For buttons that tell a run what to do. */
export function useRunOrder(runId: string) {
  return useAction(useCallback((what: Order) => engine().runs[what]({ runId }), [runId]));
}
