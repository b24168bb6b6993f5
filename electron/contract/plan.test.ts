import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { residuesPerPart } from './plan.ts';

it('gives runs on processors larger parts only if there are at least a thousand of them', () => {
  const sizes = (hardware: 'cpu' | 'gpu') =>
    [0, 100_000, 6_000_000, 6_300_000, 1_000_000_000].map((run) => residuesPerPart(hardware, run));
  expect(sizes('cpu')).toEqual([2_048, 2_048, 2_048, 6_144, 6_144]);
  expect(new Set(sizes('gpu'))).toEqual(new Set([262_144]));
});

it('sizes parts for processors so that one sweep through the layers computes them', () => {
  const source = readFileSync('python-backend/src/virnucpro_backend/encoders/mapped_layers.py', 'utf8');
  const sweep = Number(/SWEEP_BATCHES, SWEEP_TOKENS = 16, (\d+)/.exec(source)?.[1]);
  // A part ends with the chunk that fills it; each frame of it, here 30 to 333 residues long, has two tokens
  // more.
  for (const frame of [30, 166, 333])
    expect(((residuesPerPart('cpu', Infinity) + 6 * frame) * (frame + 2)) / frame).toBeLessThanOrEqual(sweep);
});
