import { expect, it } from 'vitest';
import { expectedStarts } from './expectedStarts.ts';

const minute = { low: 50, high: 70 };
const queue = { waiting: ['a', 'b', 'c'], held: false, remaining: minute, duration: () => minute };

it('adds up what the run at work and the ones before it take', () => {
  expect([...expectedStarts(queue)]).toEqual([
    ['a', minute],
    ['b', { low: 100, high: 140 }],
    ['c', { low: 150, high: 210 }],
  ]);
});

it('says nothing of what stands behind a run of unknown length, or while nothing starts by itself', () => {
  const unknown = { ...queue, duration: (runId: string) => (runId === 'b' ? null : minute) };
  expect([...expectedStarts(unknown).keys()]).toEqual(['a', 'b']);
  expect([...expectedStarts({ ...queue, remaining: null }).keys()]).toEqual([]);
  expect([...expectedStarts({ ...queue, held: true }).keys()]).toEqual([]);
});

it('expects the first to start at once where none is at work', () => {
  expect(expectedStarts({ ...queue, remaining: undefined }).get('a')).toEqual({ low: 0, high: 0 });
});
