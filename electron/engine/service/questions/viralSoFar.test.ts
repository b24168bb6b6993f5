import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { RunStore } from '../../store/runStore.ts';
import { compute, computeAll, preparedRun, removeFolders } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import { viralShares, ViralSoFar } from './deviceHistory.ts';

afterEach(() => void vi.useRealTimers());
afterAll(removeFolders);

describe('viral sequences so far', () => {
  it('are counted by sample while parts are missing, and finally equal those of the tables', async () => {
    const reads = Array.from({ length: 24 }, (_, index) => recordOf(`s${index}`, [1]));
    const run = await preparedRun([reads.slice(0, 8), reads.slice(8)], 1, {}, 'sample');
    expect((await viralShares(run.store)).run).toEqual({
      unit: 'sequences', viral: 0, scored: 0, total: 24, estimate: null,
    }); // prettier-ignore
    const [first] = await run.store.pendingParts();
    await compute(run, first?.key ?? '');
    const partly = await viralShares(run.store);
    expect(partly.samples.map(({ scored, total }) => [scored, total])).toEqual([
      [1, 8],
      [0, 16],
    ]);
    await computeAll(run);
    await run.store.writeTables();
    const { byPrediction } = await run.store.countPredictions({ filter: {} });
    expect(byPrediction.virus).toBeGreaterThan(0);
    const end = await viralShares(run.store);
    const share = byPrediction.virus / 24;
    expect(end.run).toMatchObject({ viral: byPrediction.virus, scored: 24 });
    expect(end.run.estimate).toEqual({ share, low: share, high: share });
    expect(end.samples.reduce((sum, { viral }) => sum + viral, 0)).toBe(byPrediction.virus);
    await run.store.close();
  });

  it('are counted again only from time to time, and again after a count that failed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let counts = 0;
    const slow = async () => {
      counts += 1;
      vi.advanceTimersByTime(1000);
      if (counts === 2) throw new Error('the disk is gone');
      return Promise.resolve({
        isSample: false,
        inputs: [],
        curve: Array.from({ length: counts }),
      });
    };
    const loadRun = () => Promise.resolve({ description: { options: {} }, inputs: [] });
    const store = { viralSoFar: slow, loadRun } as unknown as RunStore;
    const soFar = new ViralSoFar();
    const ask = async () => {
      const answer = await soFar.of('run', (read) => read(store)).catch(() => null);
      await setImmediate();
      return answer && answer.curve.length;
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
