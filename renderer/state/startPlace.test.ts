import { afterEach, describe, expect, it } from 'vitest';
import { madeRuns, RUN_IDS } from '../testing/memoryEngine/runs.ts';
import { useRuns } from './runs/runs.ts';
import { goToWorkAtStart } from './startPlace.ts';

const before = useRuns.getState();

describe('the place that the window opens at', () => {
  afterEach(() => {
    useRuns.setState(before, true);
    location.hash = '';
  });

  /** The hash that follows when the list of runs comes for the first time. */
  function opened(hash: string, ids: readonly string[]): string {
    useRuns.setState({ runs: null });
    location.hash = hash;
    const stop = goToWorkAtStart();
    useRuns.setState({ runs: madeRuns(Date.now()).filter(({ runId }) => ids.includes(runId)) });
    stop();
    return location.hash;
  }

  it('is the run at work, where the address names no place', () => {
    expect(opened('', [RUN_IDS.done, RUN_IDS.running])).toMatch(new RegExp(`^#/run/${RUN_IDS.running}`));
  });

  it('is left alone where no run is at work, and where the address names one', () => {
    expect(opened('', [RUN_IDS.done])).toBe('');
    expect(opened('#/settings', [RUN_IDS.running])).toBe('#/settings');
  });
});
