import { useEffect, useRef } from 'react';

const SHORTEST_MS = 10_000;
/** Of the time since the run was made: a third of what a point of its curves stands for. */
const SHARE = 1 / 360;

/** After how many milliseconds the curves of a run at work are asked for again. Each time all of its samples are read, one a second and
 * device: always after the same time, a run of weeks would do little else. */
export function curvesEvery(createdAt: string, now = Date.now()): number {
  return Math.max(SHORTEST_MS, (now - Date.parse(createdAt)) * SHARE);
}

/** What is asked for now and then while a run is at work is asked for once more when that ends: what came since the last time
 * belongs to it, and of a short run that is all there is. */
export function useOnceMoreAtEnd(isAtWork: boolean, ask: () => unknown): void {
  const wasAtWork = useRef(isAtWork);
  useEffect(() => {
    if (wasAtWork.current && !isAtWork) ask();
    wasAtWork.current = isAtWork;
  }, [isAtWork, ask]);
}
