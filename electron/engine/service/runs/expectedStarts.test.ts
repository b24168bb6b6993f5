import { expect, it } from 'vitest';
import { expectedStarts, workLeft } from './expectedStarts.ts';

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

it('takes of a run that goes on only what is left of it', () => {
  const expected = { frames: 100, residues: 8000, deviceNames: ['cpu'] };
  const paused = { expected, state: { phase: 'paused', error: null } } as const;
  expect(workLeft({ ...paused, fraction: 0.75 })).toEqual({ ...expected, frames: 25, residues: 2000 });
  expect(workLeft({ ...paused, fraction: null })).toBeNull();
  expect(workLeft({ ...paused, state: { phase: 'created' }, fraction: null })).toEqual(expected);
  expect(workLeft({ ...paused, expected: null, fraction: 0.75 })).toBeNull();
});
