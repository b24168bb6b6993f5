import { expect, it } from 'vitest';
import { expectedStarts, workLeft } from './runList.ts';

const minute = { low: 50, high: 70 };
const queue = { waiting: ['a', 'b', 'c'], held: false, remaining: minute, duration: () => minute };

it('adds up the times of the running run and the ones before it', () => {
  expect([...expectedStarts(queue)]).toEqual([
    ['a', minute],
    ['b', { low: 100, high: 140 }],
    ['c', { low: 150, high: 210 }],
  ]);
});

it('gives no time after a run of unknown length, or while nothing starts by itself', () => {
  const unknown = { ...queue, duration: (runId: string) => (runId === 'b' ? null : minute) };
  expect([...expectedStarts(unknown).keys()]).toEqual(['a', 'b']);
  expect([...expectedStarts({ ...queue, remaining: null }).keys()]).toEqual([]);
  expect([...expectedStarts({ ...queue, held: true }).keys()]).toEqual([]);
});

it('expects the first to start at once if none is running', () => {
  expect(expectedStarts({ ...queue, remaining: undefined }).get('a')).toEqual({ low: 0, high: 0 });
});

it('counts only the remaining work of a run that is resumed', () => {
  const expected = { frames: 100, residues: 8000, deviceNames: ['cpu'] };
  const paused = { expected, state: { phase: 'paused', error: null } } as const;
  expect(workLeft({ ...paused, fraction: 0.75 })).toEqual({ ...expected, frames: 25, residues: 2000 });
  expect(workLeft({ ...paused, fraction: null })).toBeNull();
  expect(workLeft({ ...paused, state: { phase: 'created' }, fraction: null })).toEqual(expected);
  expect(workLeft({ ...paused, expected: null, fraction: 0.75 })).toBeNull();
});

it('counts of a waiting run only what an earlier one has not computed', () => {
  const expected = { frames: 100, residues: 8000, deviceNames: ['cpu'], takenOver: 0.75 };
  const waiting = { expected, state: { phase: 'created' }, fraction: null } as const;
  expect(workLeft(waiting)).toEqual({ ...expected, frames: 25, residues: 2000 });
});
