import type { ReactNode } from 'react';
import { useConnectionStatus } from '../state/connection.ts';

/** Buttons that order something of the engine: they can be pressed only while it answers. */
export function WhileConnected({ children }: { children: ReactNode }) {
  const isLost = useConnectionStatus() === 'lost';
  return (
    <fieldset disabled={isLost} style={{ display: 'contents' }}>
      {children}
    </fieldset>
  );
}
