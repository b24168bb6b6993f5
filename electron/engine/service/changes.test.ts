import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveTopic } from './changes.ts';

function counter(polls = false) {
  const state = { value: 0, taken: 0 };
  const topic = new LiveTopic({
    take: () => {
      state.taken += 1;
      return { value: state.value };
    },
    intervalMs: 40,
    polls: () => polls,
  });
  return { state, topic };
}

async function collect(topic: LiveTopic<{ value: number }>, signal: AbortSignal): Promise<number[]> {
  const seen: number[] = [];
  for await (const { value } of topic.watch(signal)) seen.push(value);
  return seen;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Advances the time, with all timers and promises that are due. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

describe('LiveTopic', () => {
  it('sends the newest snapshot at once, then only changes, no faster than its interval', async () => {
    const { state, topic } = counter();
    const end = new AbortController();
    const watching = collect(topic, end.signal);
    await pass(20);
    for (let i = 1; i <= 20; i++) {
      state.value = i;
      topic.changed();
      await pass(10);
    }
    await pass(100);
    end.abort();
    // A change every 10 ms, from 20 ms on, and a snapshot every 40 ms at most.
    expect(await watching).toEqual([0, 2, 6, 10, 14, 18, 20]);
  });

  it('does nothing while nobody watches, and one watcher costs as much as five', async () => {
    const { state, topic } = counter(true);
    topic.changed();
    await pass(60);
    expect(state.taken).toBe(0);
    const end = new AbortController();
    const watching = Array.from({ length: 5 }, () => collect(topic, end.signal));
    await pass(200);
    const takenForFive = state.taken;
    // At the start and every 40 ms, as for one watcher.
    expect(takenForFive).toBe(6);
    end.abort();
    expect(await Promise.all(watching)).toEqual(Array.from({ length: 5 }, () => [0]));
    await pass(100);
    expect(state.taken).toBe(takenForFive);
  });

  it("passes a snapshot's error to every watcher, and works again for the next one", async () => {
    let broken = true;
    const topic = new LiveTopic({
      take: () => {
        if (broken) throw new Error('disk gone');
        return { value: 1 };
      },
      intervalMs: 5,
    });
    const failing = expect(collect(topic, new AbortController().signal)).rejects.toThrow('disk gone');
    await pass(5);
    await failing;
    broken = false;
    const end = new AbortController();
    const watching = collect(topic, end.signal);
    await pass(50);
    end.abort();
    expect(await watching).toEqual([1]);
  });
});
