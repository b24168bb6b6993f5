import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunStore } from '../../store/runStore.ts';
import { compute, computeAll, preparedRun } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import { emptyStratum } from '../../results/estimates/viralShare.ts';
import { expectedShares } from '../../exports/samples.ts';
import { ExpectedSharesOfRuns } from './expectedShares.ts';

afterEach(() => void vi.useRealTimers());
describe('the shares expected of a run', () => {
  it('are counted by sample while parts are missing, and finally equal those of the tables', async () => {
    const reads = Array.from({ length: 24 }, (_, index) => recordOf(`s${index}`, [1]));
    const run = await preparedRun([reads.slice(0, 8), reads.slice(8)], 1, { order: 'sample' });
    expect((await expectedShares(run.store))?.run).toEqual({
      unit: 'sequences', viral: 0, scored: 0, total: 24, estimate: null,
    }); // prettier-ignore
    const [first] = await run.store.pendingParts();
    await compute(run, first?.key ?? '');
    const partly = await expectedShares(run.store);
    expect(partly?.samples.map(({ scored, total }) => [scored, total])).toEqual([
      [1, 8],
      [0, 16],
    ]);
    await computeAll(run);
    await run.store.writeTables();
    const { byPrediction } = await run.store.countPredictions({ filter: {} });
    expect(byPrediction.virus).toBeGreaterThan(0);
    const end = await expectedShares(run.store);
    const share = byPrediction.virus / 24;
    expect(end?.run).toMatchObject({ viral: byPrediction.virus, scored: 24 });
    expect(end?.run.estimate).toEqual({ share, low: share, high: share });
    expect(end?.samples.reduce((sum, { viral }) => sum + viral, 0)).toBe(byPrediction.virus);
    await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
    expect(await expectedShares(run.store)).toBeNull();
    await run.store.close();
  });

  it('are counted again only from time to time, and again after a count that failed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let counts = 0;
    const slow = async () => {
      counts += 1;
      vi.advanceTimersByTime(1000);
      if (counts === 2) throw new Error('the disk is gone');
      const known = { scored: counts, viral: 0 };
      const stratum = { ...emptyStratum(0), known, open: counts };
      return Promise.resolve({ isSample: false, inputs: [{ isSampled: false, strata: [stratum] }] });
    };
    const loadRun = () =>
      Promise.resolve({ description: { options: {} }, inputs: [], state: { phase: 'running' } });
    const store = { shareStrata: slow, loadRun } as unknown as RunStore;
    const expected = new ExpectedSharesOfRuns();
    const ask = async () => {
      const answer = await expected.of('run', (read) => read(store)).catch(() => null);
      await setImmediate();
      return answer && answer.run.scored;
    };
    expect(await ask()).toBe(1);
    vi.advanceTimersByTime(8000);
    expect(await ask()).toBe(1);
    expect(counts).toBe(1);
    vi.advanceTimersByTime(6000);
    expect(await ask()).toBeNull();
    vi.advanceTimersByTime(11_000);
    expect(await ask()).toBe(3);
  });
});
