import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunQueue } from './runControl.ts';

function queueUnderTest(waiting: string[] = []) {
  const endings = new Map<string, () => void>();
  const begun: string[] = [];
  const queue = new RunQueue(waiting, {
    run: (runId) => {
      begun.push(runId);
      return new Promise((resolve) => {
        endings.set(runId, resolve);
      });
    },
    changed: () => undefined,
  });
  const end = async (runId: string): Promise<void> => {
    endings.get(runId)?.();
    endings.delete(runId);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, begun, atWork: endings, end };
}

describe('RunQueue', () => {
  it('starts nothing by itself after a start of the program, then continues in the stored order', async () => {
    const { queue, begun, end } = queueUnderTest(['a', 'b']);
    expect(begun).toEqual([]);
    queue.add('c', 'last');
    expect(begun).toEqual(['a']);
    await end('a');
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('takes a resumed run first, and starts nothing while it closes', async () => {
    const { queue, begun, end } = queueUnderTest();
    queue.add('a', 'last');
    queue.add('b', 'last');
    queue.add('c', 'first');
    expect(queue.position('c')).toBe(0);
    const closed = queue.close();
    await end('a');
    await closed;
    expect(begun).toEqual(['a']);
  });

  it('never runs two runs at once, loses none and starts none twice at a time', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        run: fc.integer({ min: 0, max: 5 }),
        first: fc.boolean(),
      }),
      fc.record({ do: fc.constant('remove' as const), run: fc.integer({ min: 0, max: 5 }) }),
      fc.record({ do: fc.constant('end' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { queue, atWork, end } = queueUnderTest();
        const wanted = new Set<string>();
        for (const action of steps) {
          if (action.do === 'end') {
            const { active } = queue;
            if (active !== null) {
              if (queue.position(active) === null) wanted.delete(active);
              await end(active);
            }
          } else if (action.do === 'add') {
            queue.add(`run${action.run}`, action.first ? 'first' : 'last');
            wanted.add(`run${action.run}`);
          } else {
            const run = `run${action.run}`;
            if (queue.remove(run) && run !== queue.active) wanted.delete(run);
          }
          expect(atWork.size).toBe(queue.active === null ? 0 : 1);
          const known = [...wanted].filter((run) => run === queue.active || queue.position(run) !== null);
          expect(known).toHaveLength(wanted.size);
          const positions = [...wanted].map((run) => queue.position(run)).filter((place) => place !== null);
          expect(positions.sort()).toEqual(positions.map((_, index) => index));
          if (queue.active === null) expect(wanted.size).toBe(0);
        }
      }),
      { numRuns: 200 },
    );
  });
});
