import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { RunStore } from '../../store/runStoreFace.ts';
import { compute, computeAll, preparedRun, removeFolders } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import { ViralSoFar } from './viralSoFar.ts';

afterEach(() => void vi.useRealTimers());
afterAll(removeFolders);

describe('viral sequences so far', () => {
  it('are counted while parts are missing, and in the end are those of the tables', async () => {
    const records = Array.from({ length: 24 }, (_, index) => recordOf(`s${index}`, [1, 6, 8]));
    const run = await preparedRun([records]);
    expect(await run.store.viralSoFar()).toEqual({ viral: 0, scored: 0 });
    const [first] = await run.store.pendingParts();
    await compute(run, first?.key ?? '');
    const partly = await run.store.viralSoFar();
    expect(partly.scored).toBeGreaterThan(0);
    expect(partly.scored).toBeLessThan(records.length);
    await computeAll(run);
    await run.store.writeTables();
    const { byPrediction } = await run.store.countPredictions({ filter: {} });
    expect(byPrediction.virus).toBeGreaterThan(0);
    expect(await run.store.viralSoFar()).toEqual({
      viral: byPrediction.virus,
      scored: byPrediction.virus + byPrediction.others,
    });
    await run.store.close();
  });

  it('are counted again only now and then, and again after a count that failed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    let counts = 0;
    const slow = async () => {
      counts += 1;
      vi.advanceTimersByTime(1000);
      if (counts === 2) throw new Error('the disk is gone');
      return Promise.resolve({ viral: counts, scored: counts });
    };
    const store = { viralSoFar: slow } as unknown as RunStore;
    const soFar = new ViralSoFar();
    const ask = async () => {
      const answer = await soFar.of('run', (read) => read(store)).catch(() => null);
      await setImmediate();
      return answer;
    };
    expect(await ask()).toEqual({ viral: 1, scored: 1 });
    vi.advanceTimersByTime(15_000);
    expect(await ask()).toEqual({ viral: 1, scored: 1 });
    expect(counts).toBe(1);
    vi.advanceTimersByTime(6000);
    expect(await ask()).toBeNull();
    vi.advanceTimersByTime(30_000);
    expect(await ask()).toEqual({ viral: 3, scored: 3 });
  });
});
