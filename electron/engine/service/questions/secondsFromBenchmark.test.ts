import { expect, it } from 'vitest';
import { secondsFromBenchmark } from './estimateRun.ts';

type Measured = Parameters<typeof secondsFromBenchmark>[3][number];

const measured = (name: string, precision: 'bf16' | 'fp32', esm2: number, dnabertS: number): Measured => ({
  device: { id: name, kind: 'cuda', name },
  precision,
  figures: {
    rows: [
      {
        tokens_per_batch: 24_528,
        esm2_residues_per_second: esm2,
        dnabert_s_frames_per_second: dnabertS,
        products_residues_per_second: esm2,
      },
    ],
  },
});
const devices = [measured('NVIDIA H200', 'bf16', 106_990, 19_064), measured('Xeon', 'fp32', 22.62, 3.12)];
const gpu = { kind: 'cuda', name: 'NVIDIA H200' } as const;
const worker = { kind: 'cpu', name: 'Xeon' } as const;

it('adds the times of both encoders, 30 % either way', () => {
  // A whole run of 3.0 million residues took 29.8 s of computing on this GPU.
  const range = secondsFromBenchmark(3_000_000, [gpu], 'bf16', devices);
  const encoders = 3_000_000 / 106_990 + 3_000_000 / 166 / 19_064;
  expect(range?.low).toBeCloseTo(0.7 * encoders);
  expect(range?.high).toBeCloseTo(1.3 * encoders);
  expect(secondsFromBenchmark(3_000_000, [gpu, gpu], 'bf16', devices)?.low).toBeCloseTo(0.35 * encoders);
});

it('assumes less than full speed for each of several workers of a processor', () => {
  // Sixteen workers reached 289 residues/s of ESM-2 and 50 frames/s of DNABERT-S together.
  const sixteen = Array.from({ length: 16 }, () => worker);
  const seconds = 10_000 / 289.35 + 10_000 / 166 / 49.96;
  const range = secondsFromBenchmark(10_000, sixteen, 'fp32', devices);
  expect(range?.low).toBeLessThan(seconds);
  expect(range?.high).toBeGreaterThan(seconds);
  const one = secondsFromBenchmark(10_000, [worker], 'fp32', devices);
  expect((one?.low ?? 0) / (range?.low ?? 0)).toBeLessThan(14);
});

it('returns null for devices or precisions that were not measured', () => {
  expect(secondsFromBenchmark(1000, [gpu], 'fp32', devices)).toBeNull();
  expect(secondsFromBenchmark(1000, [gpu, worker], 'bf16', devices)).toBeNull();
  expect(secondsFromBenchmark(1000, [], 'bf16', devices)).toBeNull();
});

it("uses the speed with a run's batch size, not with the fastest", () => {
  const [, xeon] = devices;
  const row = xeon?.figures?.rows[0];
  if (!xeon?.figures || !row) throw new Error('not measured');
  const sizes = [168, 512, 2_048].map((tokens) => ({
    ...row,
    tokens_per_batch: tokens,
    esm2_residues_per_second: 20_000 / tokens,
  }));
  const several = [{ ...xeon, figures: { rows: sizes } }];
  const seconds = 10_000 / (20_000 / 2_048) + 10_000 / 166 / row.dnabert_s_frames_per_second;
  expect(secondsFromBenchmark(10_000, [worker], 'fp32', several)?.low).toBeCloseTo(0.7 * seconds);
});
