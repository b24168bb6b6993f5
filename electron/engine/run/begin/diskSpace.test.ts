import { expect, it } from 'vitest';
import { diskNeeded, diskShortage, findDiskShortage } from './checkReadiness.ts';

const SIZE = { chunks: 1_000, frames: 2_000, residues: 300_000 };

it('counts tables, work files and database, and much more with embeddings', () => {
  const plain = diskNeeded({ embeddings: null }, SIZE);
  expect(plain).toBe(Math.round(1e6 + 1.2 * (1_000 * 220 + 2_000 * 100 + 300_000 * 4)));
  expect(diskNeeded({ embeddings: 'fp32' }, SIZE) - plain).toBe(Math.round(1.2 * 2_000 * 3_328 * 4));
});

it('reports how much is free and how much is needed, and nothing if that is unknown', async () => {
  expect(diskShortage('/results', 5e9, null)).toBeUndefined();
  expect(diskShortage('/results', 5e9, 5e9)).toBeUndefined();
  expect(diskShortage('/results', 5e9, 1e9)).toMatchObject({
    code: 'disk_full',
    cause: expect.stringMatching(/5 GB.*1 GB|1 GB.*5 GB/) as string,
  });
  const huge = { chunks: 1e12, frames: 1e12, residues: 1e15 };
  expect(await findDiskShortage(import.meta.dirname, { embeddings: null }, SIZE)).toBeUndefined();
  expect(await findDiskShortage(import.meta.dirname, { embeddings: null }, huge)).toMatchObject({
    code: 'disk_full',
  });
});
