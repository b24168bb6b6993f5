import { goToRun } from './navigation.ts';
import { useRuns } from './runs/runs.ts';
import { isAtWork } from '../../electron/contract/runState.ts';

/** Whoever opens the bare address while a run is at work wants to see it; an address with a place in it is kept. */
export function goToWorkAtStart(): () => void {
  const hadPlace = location.hash !== '';
  return useRuns.subscribe(({ runs }, before) => {
    if (hadPlace || !runs || before.runs || location.hash !== '') return;
    const atWork = runs.find(isAtWork);
    if (atWork) goToRun(atWork.runId);
  });
}
