import { expect, it } from 'vitest';
import { processorOfShare } from '../../contract/cluster.ts';
import { NO_WORKER_FIGURES, type DeviceLive } from '../../contract/rpc/runs.ts';
import { deviceLines } from './progressText.ts';

const device = (node: string, number: number, change: Partial<DeviceLive> = {}): DeviceLive => ({
  id: `${node}/${number}`,
  name: 'NVIDIA H200',
  index: number,
  place: { node, number },
  worker: { state: 'working', part: '000012' },
  partFraction: 0.5,
  partsDone: 11,
  residuesDone: 120_000,
  residuesPerSecond: 100_000,
  framesPerSecond: 600,
  tokensPerBatch: 33_792,
  placement: null,
  utilizationPercent: 99,
  memoryUsedBytes: 14.2 * 2 ** 30,
  memoryTotalBytes: 16 * 2 ** 30,
  temperatureC: 60,
  powerW: 690,
  ...NO_WORKER_FIGURES,
  ...change,
});
const progress = {
  fraction: 0.96,
  residues: { total: 1_000_000, done: 960_000 },
  prepare: { finished: true, records: 1_000, bases: 500_000, frames: 6_000 },
};

it('has a line for each device, in columns that are aligned', () => {
  const idle = { residuesPerSecond: null, utilizationPercent: null, memoryUsedBytes: null };
  const loading = device('n', 0, { ...idle, worker: { state: 'loading' }, partsDone: 0, residuesDone: 0 });
  const lines = deviceLines([device('node1', 7), loading], progress);
  expect(lines.map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'node1 GPU 7 NVIDIA H200 █░░░░░░░ 12 % 11 parts 14.2 of 16.0 GB 99 % 60 °C 690 W 6,000 sequences/min working',
    'n GPU 0 NVIDIA H200 ░░░░░░░░ 0 % 0 parts 60 °C 690 W loading the model',
  ]);
  expect(new Set(lines.map((line) => line.indexOf(' parts')))).toHaveProperty('size', 1);
});

it('names the share of each processor of a node, since each share counts its own from 0', () => {
  const shares = [1, 2].map((share) =>
    device('node1', 0, {
      id: processorOfShare('cpu:0', 'node1', `${share}-of-2`),
      index: null,
      name: 'EPYC',
    }),
  );
  expect(deviceLines(shares, progress).map((line) => line.slice(0, 24).trimEnd())).toEqual([
    'node1 share 1 CPU 0 EPYC',
    'node1 share 2 CPU 0 EPYC',
  ]);
});
