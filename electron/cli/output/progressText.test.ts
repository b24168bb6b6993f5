import { expect, it } from 'vitest';
import { processorOfShare } from '../../contract/cluster.ts';
import type { DeviceLive } from '../../contract/rpc/runs.ts';
import { deviceLines } from './progressText.ts';

const device = (node: string, number: number, change: Partial<DeviceLive> = {}): DeviceLive => ({
  id: `${node}/${number}`,
  name: 'NVIDIA H200',
  index: number,
  place: { node, number },
  worker: { state: 'working', part: '000012' },
  partFraction: 0.5,
  partsDone: 11,
  residuesPerSecond: 100_000,
  framesPerSecond: 600,
  tokensPerBatch: 33_792,
  placement: null,
  utilizationPercent: 99,
  memoryUsedBytes: 8e9,
  temperatureC: 60,
  powerW: 690,
  ...change,
});
const eight = Array.from({ length: 8 }, (_, number) => device('node1', number));

it('has a line for each device of this computer or of a small cluster, and for each node of a larger one', () => {
  expect(deviceLines(eight).map((line) => line.replaceAll(/ +/g, ' '))[7]).toBe(
    'node1 GPU 7 NVIDIA H200 ██████░░░░░░ part 000012 11 done 8 GB 99 % 100,000 residues/s',
  );
  const idle = { residuesPerSecond: null, utilizationPercent: null, memoryUsedBytes: null };
  const more = [
    ...eight,
    device('node2', 0, { utilizationPercent: 51 }),
    device('node2', 1, { ...idle, worker: { state: 'loading' }, partsDone: 0 }),
  ];
  expect(deviceLines(more).map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'node1 8 working 88 done 64 GB 99 % 800,000 residues/s',
    'node2 1 working, 1 loading the model 11 done 8 GB 51 % 100,000 residues/s',
  ]);
  // The columns are aligned.
  expect(
    new Set(deviceLines([...eight, device('n', 0)]).map((line) => line.indexOf(' done'))),
  ).toHaveProperty('size', 1);
  // This computer has no nodes.
  const here = [...eight, device('node1', 8)].map((one) => ({ ...one, place: null }));
  expect(deviceLines(here)).toHaveLength(9);
});

it('names the share of each processor of a node, since each share counts its own from 0', () => {
  const shares = [1, 2].map((share) =>
    device('node1', 0, {
      id: processorOfShare('cpu:0', 'node1', `${share}-of-2`),
      index: null,
      name: 'EPYC',
    }),
  );
  expect(deviceLines(shares).map((line) => line.slice(0, 24).trimEnd())).toEqual([
    'node1 share 1 CPU 0 EPYC',
    'node1 share 2 CPU 0 EPYC',
  ]);
});
