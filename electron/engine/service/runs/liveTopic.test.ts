import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { LiveTopic } from './liveTopic.ts';

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

describe('LiveTopic', () => {
  it('sends the newest snapshot at once, then only what differs, no faster than its interval', async () => {
    const { state, topic } = counter();
    const end = new AbortController();
    const watching = collect(topic, end.signal);
    await sleep(20);
    for (let i = 1; i <= 20; i++) {
      state.value = i;
      topic.changed();
      await sleep(10);
    }
    await sleep(100);
    end.abort();
    const seen = await watching;
    expect(seen[0]).toBe(0);
    expect(seen.at(-1)).toBe(20);
    // 200 ms of changes at an interval of 40 ms, with room for a slow timer.
    expect(seen.length).toBeLessThanOrEqual(8);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('does nothing while nobody watches, and one watcher costs as much as five', async () => {
    const { state, topic } = counter(true);
    topic.changed();
    await sleep(60);
    expect(state.taken).toBe(0);
    const end = new AbortController();
    const watching = Array.from({ length: 5 }, () => collect(topic, end.signal));
    await sleep(200);
    const takenForFive = state.taken;
    expect(takenForFive).toBeLessThanOrEqual(6);
    end.abort();
    expect(await Promise.all(watching)).toEqual(Array.from({ length: 5 }, () => [0]));
    await sleep(100);
    expect(state.taken).toBe(takenForFive);
  });

  it('tells every watcher why a snapshot could not be made, and works again for the next one', async () => {
    let broken = true;
    const topic = new LiveTopic({
      take: () => {
        if (broken) throw new Error('disk gone');
        return { value: 1 };
      },
      intervalMs: 5,
    });
    await expect(collect(topic, new AbortController().signal)).rejects.toThrow('disk gone');
    broken = false;
    const end = new AbortController();
    const watching = collect(topic, end.signal);
    await sleep(50);
    end.abort();
    expect(await watching).toEqual([1]);
  });
});
