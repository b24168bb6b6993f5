import { useEffect, useRef } from 'react';

const SHORTEST_MS = 10_000;
/** Share of the time since the run was created: two thirds of the time that one point of its curves covers. */
const SHARE = 1 / 360;

/** The interval, in milliseconds, at which the curves of a run at work are queried. Each query reads all of its samples, one a second and
 * device: at a fixed interval, a run of weeks would do little else. */
export function curvesEvery(createdAt: string, now = Date.now()): number {
  return Math.max(SHORTEST_MS, (now - Date.parse(createdAt)) * SHARE);
}

/** Repeats a periodic query once more when a run ends, since what came after the last query belongs to it; for a short run that
 * may be everything. */
export function useOnceMoreAtEnd(isAtWork: boolean, ask: () => unknown): void {
  const wasAtWork = useRef(isAtWork);
  useEffect(() => {
    if (wasAtWork.current && !isAtWork) ask();
    wasAtWork.current = isAtWork;
  }, [isAtWork, ask]);
}
