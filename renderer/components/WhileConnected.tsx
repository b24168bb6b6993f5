import type { ReactNode } from 'react';
import { useConnectionStatus } from '../state/connection.ts';

/** Disables buttons that send an order to the engine while the engine does not answer. */
export function WhileConnected({ children }: { children: ReactNode }) {
  const isLost = useConnectionStatus() === 'lost';
  return (
    <fieldset disabled={isLost} style={{ display: 'contents' }}>
      {children}
    </fieldset>
  );
}
