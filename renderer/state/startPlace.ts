import { isAtWork } from '../../electron/contract/runState.ts';
import { isExample } from '../../electron/contract/index.ts';
import { go, goToRun } from './navigation.ts';
import { useRuns } from './runs/runs.ts';
import { sayError } from './say.ts';
import { changeSettings, useSettings } from './settings.ts';

/**
 * Chooses the screen if the address names none, once the settings and the runs are both known: one of the user's own runs
 * that is at work, else the first steps until they are left, else the example at work. A run of the user's own ends the first steps.
 */
export function chooseStartPlace(): () => void {
  const hadPlace = location.hash !== '';
  let isDecided = false;
  const decide = () => {
    const { settings } = useSettings.getState();
    const { runs, error } = useRuns.getState();
    if (isDecided || !settings || (!runs && !error)) return;
    isDecided = true;
    const own = runs?.filter((run) => !isExample(run)) ?? [];
    const isNew = !settings.welcomeSeen && own.length === 0;
    if (own.length > 0 && !settings.welcomeSeen) changeSettings({ welcomeSeen: true }).catch(sayError);
    if (hadPlace || location.hash !== '') return;
    const atWork = (isNew ? own : runs)?.find(isAtWork);
    if (atWork) goToRun(atWork.runId);
    else if (isNew) go({ screen: 'start' });
  };
  const leave = [useSettings.subscribe(decide), useRuns.subscribe(decide)];
  decide();
  return () => leave.forEach((one) => one());
}
