import { describe, expect, it } from 'vitest';
import { firstTrial, type Trial } from './trial.ts';
import { PartQueue } from './workState.ts';

const FRESH = firstTrial(false);
const AGAIN = firstTrial(true);
const ALONE: Trial = { stage: 'alone', inRow: 1, deaths: 1 };

const partKey = (number: number): string => String(number).padStart(6, '0');

describe('PartQueue', () => {
  it('hands out parts by rounds, whenever they arrive', () => {
    const queue = new PartQueue();
    const add = (key: string, round: number): void => queue.add({ key, residues: 1, round, trial: FRESH });
    add('000000', 6);
    add('000001', 6);
    expect(queue.take('a')?.key).toBe('000000');
    add('000002', 5);
    add('000003', 0);
    add('000004', 5);
    add('000005', 0);
    queue.withdraw('000003');
    const [first, ...others] = ['a', 'b', 'a'].map((device) => queue.take(device)?.key);
    expect([first, others.toSorted()]).toEqual(['000005', ['000002', '000004']]);
    queue.giveBack('000000', FRESH);
    expect([queue.take('b')?.key, queue.take('b')?.key]).toEqual(['000000', '000001']);
  });

  it.each([1, 3, 6, 8, 9, 13])(
    'spreads what it hands out over all parts of a round of one of %i shares, but keeps the order of the first',
    (shares) => {
      // In an even sample about every second part belongs to the last round.
      const numbers = Array.from({ length: 1000 }, (_, index) => 2 * shares * index + 1);
      for (const round of [0, 8]) {
        const queue = new PartQueue();
        for (const number of numbers) queue.add({ key: partKey(number), residues: 1, round, trial: FRESH });
        const taken = Array.from({ length: 250 }, () => numbers.indexOf(Number(queue.take('a')?.key)));
        if (round === 0) {
          expect(taken).toEqual(Array.from({ length: 250 }, (_, index) => index));
          continue;
        }
        for (const from of [0, 250, 500, 750]) {
          const inQuarter = taken.filter((place) => place >= from && place < from + 250).length;
          expect(inQuarter).toBeGreaterThan(40);
        }
      }
    },
  );

  it('hands out in order, returned parts first and failed ones last', () => {
    const queue = new PartQueue();
    for (const number of [0, 1, 2, 3])
      queue.add({ key: partKey(number), residues: 1, round: 0, trial: FRESH });
    expect(queue.take('a')?.key).toBe('000000');
    expect(queue.take('b')?.key).toBe('000001');
    queue.giveBack('000000', AGAIN);
    queue.giveBack('000001', FRESH);
    expect([1, 2, 3].map(() => queue.take('a')?.key)).toEqual(['000001', '000002', '000003']);
    expect(queue.take('b')?.key).toBe('000000');
    expect(queue.take('b')).toBeUndefined();
  });

  it('computes a part that has failed alone on its device', () => {
    const queue = new PartQueue();
    for (const number of [0, 1, 2])
      queue.add({ key: partKey(number), residues: 1, round: 0, trial: number === 0 ? AGAIN : FRESH });
    expect(queue.take('a')?.key).toBe('000001');
    expect(queue.take('b')?.key).toBe('000002');
    expect(queue.take('a')).toBeUndefined();
    queue.settle('000001');
    expect(queue.take('a')?.key).toBe('000000');
    queue.giveBack('000002', FRESH);
    expect(queue.take('a')).toBeUndefined();
    expect(queue.take('b')?.key).toBe('000002');
  });

  it('computes a part that has failed again while nothing else is, the last one to fail first', () => {
    const queue = new PartQueue();
    const trials = [ALONE, ALONE, AGAIN, FRESH];
    for (const [number, trial] of trials.entries())
      queue.add({ key: partKey(number), residues: 1, round: 0, trial });
    expect(queue.take('a')?.key).toBe('000003');
    // The others come after it, also those that could be computed beside it.
    expect([queue.take('b'), queue.nextWaitsForAll]).toEqual([undefined, true]);
    queue.settle('000003');
    expect(queue.take('b')?.key).toBe('000000');
    expect(queue.take('a')).toBeUndefined();
    queue.giveBack('000000', ALONE);
    expect(queue.take('a')?.key).toBe('000000');
    queue.settle('000000');
    queue.withdraw('000001');
    expect(queue.take('b')?.key).toBe('000002');
  });
});
