import { useCallback, useState } from 'react';
import { sayError } from './toasts.ts';

/** Wraps a call made by a button: busy while it runs, and its error said. Resolves to whether it went well. */
export function useAction<Arguments extends unknown[]>(
  action: (...args: Arguments) => Promise<unknown>,
): { busy: boolean; run: (...args: Arguments) => Promise<boolean> } {
  const [busy, setBusy] = useState(false);
  const run = useCallback(
    async (...args: Arguments) => {
      setBusy(true);
      try {
        await action(...args);
        return true;
      } catch (reason) {
        sayError(reason);
        return false;
      } finally {
        setBusy(false);
      }
    },
    [action],
  );
  return { busy, run };
}
