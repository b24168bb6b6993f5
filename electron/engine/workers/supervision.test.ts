import { describe, expect, it, vi } from 'vitest';
import { patientDeadlines, ProgressWatch } from './deadlines.ts';
import { describeExit } from './childProcess.ts';
import { Restarts } from './backendProcess.ts';

const limits = { helloMs: 1000, loadMs: 1000, silentMs: 60_000, stepFloorMs: 120_000 };

describe('ProgressWatch', () => {
  it('finds a worker that sends nothing', () => {
    const watch = new ProgressWatch(limits, 0);
    watch.message(10_000);
    expect(watch.missed(70_000)).toBeUndefined();
    expect(watch.missed(70_001)?.code).toBe('worker_silent');
  });

  it('does not blame a worker for the sleep of the computer', () => {
    const watch = new ProgressWatch(limits, 0);
    watch.message(1_000);
    watch.heartbeat({ step: 'computing', steps_done: 1, processor_seconds: 0 }, 1_000);
    const slept = 8 * 3_600_000;
    watch.forgive(slept);
    expect(watch.missed(slept + 2_000)).toBeUndefined();
    expect(watch.missed(slept + 61_001)?.code).toBe('worker_silent');
  });

  it('lets a worker finish that other programs keep from computing, and ends one that computes for ever', () => {
    const limit = limits.stepFloorMs;
    // The worker gets a tenth of a processor, then all of it, and no step ends.
    const watch = new ProgressWatch(limits, 0);
    const at = (now: number, processorMs: number) => {
      watch.message(now);
      watch.heartbeat({ step: 'computing', steps_done: 1, processor_seconds: processorMs / 1000 }, now);
      return watch.missed(now)?.code;
    };
    let now = 0;
    for (; now <= 10 * limit; now += 10_000) expect(at(now, now / 10)).toBeUndefined();
    expect(at(now, limit + 1)).toBe('worker_stalled');
  });

  it('does not count the processor time of signs of life as work', () => {
    const watch = new ProgressWatch(limits, 0);
    const found = Array.from({ length: 70 }, (_, beat) => {
      watch.message(2000 * beat);
      const processor_seconds = 5 + beat / 1000;
      watch.heartbeat({ step: 'computing', steps_done: 1, processor_seconds }, 2000 * beat);
      return watch.missed(2000 * beat)?.code;
    });
    expect(found.indexOf('worker_stalled')).toBe(61);
  });

  it('waits longer if more patience is configured', () => {
    const watch = new ProgressWatch(patientDeadlines(limits, 3), 0);
    watch.heartbeat({ step: 'computing', steps_done: 1, processor_seconds: 0 }, 0);
    watch.message(3 * limits.stepFloorMs);
    expect(watch.missed(3 * limits.stepFloorMs)).toBeUndefined();
    expect(watch.missed(3 * limits.stepFloorMs + 1)?.code).toBe('worker_stalled');
  });

  it('tolerates slow steps in proportion to earlier ones, and an idle worker for ever', () => {
    const watch = new ProgressWatch(limits, 0);
    watch.heartbeat({ step: 'computing', steps_done: 1, processor_seconds: 0 }, 0);
    watch.heartbeat({ step: 'computing', steps_done: 2, processor_seconds: 0 }, 30_000);
    watch.message(329_000);
    expect(watch.missed(330_000)).toBeUndefined();
    expect(watch.missed(330_001)?.code).toBe('worker_stalled');
    watch.heartbeat({ step: 'idle', steps_done: 2, processor_seconds: 0 }, 330_002);
    watch.message(9_999_999);
    expect(watch.missed(10_000_000)).toBeUndefined();
  });
});

describe('Restarts', () => {
  it('restarts six times with growing delays, then gives up, unless there is progress', () => {
    vi.useFakeTimers();
    try {
      const starts: number[] = [];
      const begun = Date.now();
      const restarts = new Restarts(() => starts.push(Date.now() - begun), 1000);
      const attempts = Array.from({ length: 7 }, () => {
        const attempt = restarts.died();
        vi.runAllTimers();
        return attempt;
      });
      expect(attempts).toEqual([1, 2, 3, 4, 5, 6, null]);
      expect(starts).toEqual([1000, 3000, 7000, 15_000, 31_000, 63_000]);
      restarts.progress();
      expect(restarts.died()).toBe(1);
      restarts.cancel();
      restarts.giveUp();
      expect(restarts.died()).toBeNull();
      vi.runAllTimers();
      expect(starts).toHaveLength(6);
    } finally {
      vi.useRealTimers();
    }
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
  ])('describes %j in words', (exit, words) => {
    expect(describeExit(exit)).toContain(words);
  });
});
