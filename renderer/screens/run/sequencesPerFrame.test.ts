import { expect, it } from 'vitest';
import { sequencesPerFrame } from './sequencesPerFrame.ts';

const read = (records: number, frames: number) => ({
  prepare: { finished: false, bytesRead: 1, bytesTotal: 2, records, bases: 500, frames },
});

it('counts sequences without an open frame too: 100 sequences in 40 frames pass at 2.5 a frame', () => {
  expect(sequencesPerFrame(read(100, 40))).toBe(2.5);
});

it('is unknown until a frame has been read', () => {
  expect(sequencesPerFrame(read(3, 0))).toBeNull();
});
