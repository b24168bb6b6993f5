import { useEffect, useRef } from 'react';

/** What is asked for now and then while a run is at work is asked for once more when that ends: what came since the last time
 * belongs to it, and of a short run that is all there is. */
export function useOnceMoreAtEnd(isAtWork: boolean, ask: () => unknown): void {
  const wasAtWork = useRef(isAtWork);
  useEffect(() => {
    if (wasAtWork.current && !isAtWork) ask();
    wasAtWork.current = isAtWork;
  }, [isAtWork, ask]);
}
