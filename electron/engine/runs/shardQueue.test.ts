import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideAfterCasualty } from './casualtyPolicy.ts';
import { ShardQueue } from './shardQueue.ts';

type Step = { device: number; outcome: 'done' | 'recalled' | 'worker_dies' };

const steps = fc.array(
  fc.record({
    device: fc.integer({ min: 0, max: 7 }),
    outcome: fc.constantFrom<Step['outcome']>('done', 'done', 'recalled', 'worker_dies'),
  }),
  { maxLength: 300 },
);

const shardKey = (number: number): string => String(number).padStart(6, '0');

describe('ShardQueue', () => {
  it('scores every shard exactly once, whatever workers do, and bisects only after a second casualty', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), steps, (count, script) => {
        const queue = new ShardQueue();
        const open = new Set<string>();
        const settled = new Set<string>();
        const add = (key: string, casualties: number): void => {
          queue.add({ key, residues: 1, casualties });
          open.add(key);
        };
        for (let number = 0; number < count; number++) add(shardKey(number), 0);

        const settle = (key: string): void => {
          queue.settle(key);
          expect(settled.has(key)).toBe(false);
          settled.add(key);
          open.delete(key);
        };
        const play = ({ device, outcome }: Step): void => {
          const name = `device ${device}`;
          const shard = queue.take(name);
          if (!shard) return;
          expect(queue.holder(shard.key)).toBe(name);
          if (outcome === 'done') settle(shard.key);
          else if (outcome === 'recalled') queue.giveBack(shard.key, shard.casualties);
          else if (decideAfterCasualty(shard.casualties) === 'try_again') queue.giveBack(shard.key, 1);
          else {
            expect(shard.casualties).toBeGreaterThan(0);
            settle(shard.key);
            if (shard.key.length < 20)
              for (const half of ['.0', '.1']) add(shard.key + half, shard.casualties);
          }
        };
        script.forEach(play);
        expect(queue.waitingCount + queue.assignedCount).toBe(open.size);
        while (queue.waitingCount > 0) play({ device: 0, outcome: 'done' });
        expect(open.size).toBe(0);
        expect(queue.assignedCount).toBe(0);
      }),
    );
  });

  it('hands out in order, returned shards first and suspects last', () => {
    const queue = new ShardQueue();
    for (const number of [0, 1, 2, 3]) queue.add({ key: shardKey(number), residues: 1, casualties: 0 });
    expect(queue.take('a')?.key).toBe('000000');
    expect(queue.take('b')?.key).toBe('000001');
    queue.giveBack('000000', 1);
    queue.giveBack('000001', 0);
    expect([1, 2, 3].map(() => queue.take('a')?.key)).toEqual(['000001', '000002', '000003']);
    expect(queue.take('b')?.key).toBe('000000');
    expect(queue.take('b')).toBeUndefined();
  });

  it('lets a suspect be computed alone, so that the next death has one cause', () => {
    const queue = new ShardQueue();
    for (const number of [0, 1, 2])
      queue.add({ key: shardKey(number), residues: 1, casualties: number === 0 ? 1 : 0 });
    expect(queue.take('a')?.key).toBe('000001');
    expect(queue.take('b')?.key).toBe('000002');
    expect(queue.take('a')).toBeUndefined();
    queue.settle('000001');
    expect(queue.take('a')?.key).toBe('000000');
    queue.giveBack('000002', 0);
    expect(queue.take('a')).toBeUndefined();
    expect(queue.take('b')?.key).toBe('000002');
  });

  it('refuses to hold a shard twice or to settle what nobody has', () => {
    const queue = new ShardQueue();
    queue.add({ key: '000000', residues: 1, casualties: 0 });
    expect(() => {
      queue.add({ key: '000000', residues: 1, casualties: 0 });
    }).toThrow(/already/);
    expect(() => {
      queue.settle('000000');
    }).toThrow(/not assigned/);
  });
});
