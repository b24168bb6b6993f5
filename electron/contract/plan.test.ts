import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { firstRound, residuesPerPart } from './plan.ts';

it('gives runs on processors larger parts only if there are at least a thousand of them', () => {
  const sizes = (hardware: 'cpu' | 'gpu') =>
    [0, 100_000, 6_000_000, 6_300_000, 1_000_000_000].map((run) => residuesPerPart(hardware, run));
  expect(sizes('cpu')).toEqual([2_048, 2_048, 2_048, 6_144, 6_144]);
  expect(new Set(sizes('gpu'))).toEqual(new Set([262_144]));
});

it('begins a run of any size with 10 to 20 chunks a file, by rounds that double to the whole', () => {
  for (const chunks of [20_481, 1_000_000, 77_777_777]) {
    const first = firstRound(chunks, 4);
    expect(Number.isInteger(Math.log2(first))).toBe(true);
    expect((first * chunks) / 4).toBeGreaterThan(10);
    expect((first * chunks) / 4).toBeLessThanOrEqual(20);
  }
  expect([firstRound(0, 1), firstRound(2_000, 4)]).toEqual([1 / 256, 1 / 256]);
});

it('sizes parts for processors so that one sweep through the layers computes them', () => {
  const source = readFileSync('python-backend/src/virnucpro_backend/encoders/mapped_layers.py', 'utf8');
  const sweep = Number(/SWEEP_BATCHES, SWEEP_TOKENS = 16, (\d+)/.exec(source)?.[1]);
  // A part ends with the chunk that fills it; each frame of it, here 30 to 333 residues long, has two tokens
  // more.
  for (const frame of [30, 166, 333])
    expect(((residuesPerPart('cpu', Infinity) + 6 * frame) * (frame + 2)) / frame).toBeLessThanOrEqual(sweep);
});
