import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProgressWatch } from './deadlines.ts';
import { describeExit } from './describeExit.ts';
import { decideRestart } from './restartPolicy.ts';

const limits = { helloMs: 1000, loadMs: 1000, silentMs: 60_000, stepFloorMs: 120_000 };

describe('ProgressWatch', () => {
  it('finds a worker that says nothing', () => {
    const watch = new ProgressWatch(limits, 0);
    watch.message(10_000);
    expect(watch.missed(70_000)).toBeUndefined();
    expect(watch.missed(70_001)?.code).toBe('worker_silent');
  });

  it('does not blame a worker for the sleep of the computer', () => {
    const watch = new ProgressWatch(limits, 0);
    watch.message(1_000);
    watch.heartbeat({ step: 'computing', steps_done: 1 }, 1_000);
    const slept = 8 * 3_600_000;
    watch.forgive(slept);
    expect(watch.missed(slept + 2_000)).toBeUndefined();
    expect(watch.missed(slept + 61_001)?.code).toBe('worker_silent');
  });

  it('finds a worker that beats but does not advance', () => {
    const watch = new ProgressWatch(limits, 0);
    let now = 0;
    for (; now <= 120_000; now += 2000) {
      watch.message(now);
      watch.heartbeat({ step: 'computing', steps_done: 5 }, now);
      expect(watch.missed(now)).toBeUndefined();
    }
    watch.message(now);
    watch.heartbeat({ step: 'computing', steps_done: 5 }, now);
    expect(watch.missed(now)?.code).toBe('worker_stalled');
  });

  it('is patient with slow steps in proportion to those seen, and with an idle worker for ever', () => {
    const watch = new ProgressWatch(limits, 0);
    watch.heartbeat({ step: 'computing', steps_done: 1 }, 0);
    watch.heartbeat({ step: 'computing', steps_done: 2 }, 30_000);
    watch.message(329_000);
    expect(watch.missed(330_000)).toBeUndefined();
    expect(watch.missed(330_001)?.code).toBe('worker_stalled');
    watch.heartbeat({ step: 'idle', steps_done: 2 }, 330_002);
    watch.message(9_999_999);
    expect(watch.missed(10_000_000)).toBeUndefined();
  });
});

describe('decideRestart', () => {
  it('restarts three times with growing delays, then gives up', () => {
    expect([1, 2, 3, 4].map((deaths) => decideRestart(deaths, 1000))).toEqual([
      { restart: true, delayMs: 1000 },
      { restart: true, delayMs: 2000 },
      { restart: true, delayMs: 4000 },
      { restart: false },
    ]);
    fc.assert(fc.property(fc.integer({ min: 4 }), (deaths) => !decideRestart(deaths).restart));
  });
});

describe('describeExit', () => {
  it.each([
    [{ code: undefined, signal: 'SIGKILL', lastLines: [] }, 'ran out of memory'],
    [{ code: 137, signal: undefined, lastLines: [] }, 'ran out of memory'],
    [{ code: 139, signal: undefined, lastLines: [] }, 'crashed'],
    [{ code: -1073741819, signal: undefined, lastLines: [] }, 'access violation'],
    [{ code: 1, signal: undefined, lastLines: ['ImportError: no torch', ''] }, 'ImportError: no torch'],
    [{ code: undefined, signal: undefined, lastLines: [] }, 'could not be started'],
  ])('says %j in words', (exit, words) => {
    expect(describeExit(exit)).toContain(words);
  });
});
