import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settingsSchema, type RunSummary } from '../../electron/contract/index.ts';
import { createMemoryEngine } from '../testing/memoryEngine/index.ts';
import { memoryTransport } from '../testing/memoryLink.ts';
import { madeRuns, RUN_IDS } from '../testing/memoryEngine/runs.ts';
import { startConnection } from './connection.ts';
import { useRuns } from './runs/runs.ts';
import { useSettings } from './settings.ts';
import { chooseStartPlace } from './startPlace.ts';

const [done, running, interrupted] = [RUN_IDS.done, RUN_IDS.running, RUN_IDS.interrupted];

/** As `virnucpro predict resources/example.fa` makes it, anywhere. */
const asExample = (run: RunSummary): RunSummary => ({
  ...run,
  plan: {
    ...run.plan,
    inputs: run.plan.inputs.slice(0, 1).map((input) => ({ ...input, path: '/opt/resources/example.fa' })),
    model: { ...run.plan.model, name: 'teaching' },
  },
});

describe('the screen at start', () => {
  let close: () => void;
  beforeEach(() => {
    close = startConnection(memoryTransport(createMemoryEngine({ runs: 'none', welcomeSeen: false })));
  });
  afterEach(() => {
    close();
    useRuns.setState({ runs: null, error: null });
    useSettings.setState({ settings: null });
    location.hash = '';
  });

  interface Case {
    hash?: string;
    runs: readonly string[];
    /** Ids of the runs that are the example. */
    examples?: readonly string[];
    welcomeSeen?: boolean;
  }

  /** The resulting hash, and whether the first steps are left, for either order of arrival of settings and runs. */
  function opened({ hash = '', runs, examples = [], welcomeSeen = false }: Case) {
    const learn = [
      () => useSettings.setState({ settings: { ...settingsSchema.parse({}), welcomeSeen } }),
      () => {
        const known = madeRuns(Date.now()).filter(({ runId }) => runs.includes(runId));
        useRuns.setState({
          runs: known.map((run) => (examples.includes(run.runId) ? asExample(run) : run)),
        });
      },
    ];
    const [one, other] = [learn, learn.toReversed()].map((order) => {
      useRuns.setState({ runs: null, error: null });
      useSettings.setState({ settings: null });
      location.hash = hash;
      const stop = chooseStartPlace();
      for (const step of order) step();
      stop();
      return { hash: location.hash, left: useSettings.getState().settings?.welcomeSeen };
    });
    expect(one).toEqual(other);
    return one;
  }

  const atRun = { hash: `#/run/${running}/progress`, left: true };

  it('is the run at work, even if the first steps were never left', () => {
    expect(opened({ runs: [done, running], welcomeSeen: true })).toEqual(atRun);
    expect(opened({ runs: [done, running] })).toEqual(atRun);
  });

  it('is the first steps only for a new user, with the example at work or done', () => {
    const first = { hash: '#/start', left: false };
    expect(opened({ runs: [] })).toEqual(first);
    expect(opened({ runs: [done], examples: [done] })).toEqual(first);
    expect(opened({ runs: [running], examples: [running] })).toEqual(first);
    expect(opened({ runs: [running], examples: [running], welcomeSeen: true })).toEqual(atRun);
    // A banner on every screen offers to resume an interrupted run.
    expect(opened({ runs: [done, interrupted] })).toEqual({ hash: '', left: true });
    expect(opened({ runs: [], welcomeSeen: true })).toEqual({ hash: '', left: true });
  });

  it('is the one named in the address', () => {
    expect(opened({ hash: '#/settings', runs: [running] })).toEqual({ hash: '#/settings', left: true });
    expect(opened({ hash: '#/settings', runs: [] })).toEqual({ hash: '#/settings', left: false });
  });
});
