import { expect, it } from 'vitest';
import { EIGHT_H200, RADEONS, RADEONS_WITHOUT_ROCM } from '../../engine/devices/testing/probeExamples.ts';
import type { ProbeResult } from '../../contract/protocol/index.ts';
import { gpuLine } from './gpuLine.ts';

function line(probe: ProbeResult, index: number, facts: object = {}): string {
  const gpu = probe.gpus[index];
  if (!gpu) throw new Error('no such GPU');
  return gpuLine({ ...gpu, ...facts });
}

it('says what a GPU is, who uses it, and what is in the way', () => {
  const processes = [{ pid: 7, name: null, memory_bytes: 1 }];
  expect(line(EIGHT_H200, 0, { visible: false, processes })).toMatch(
    /^GPU 0 {2}NVIDIA H200 {2}.* free {2}compute capability 9\.0 {2}GPU-0a1f.*hidden by an environment variable {2}in use by process 7$/,
  );
  expect(line(RADEONS, 1)).toMatch(
    /^GPU 1 {2}AMD Radeon RX 6800 XT {2}.* free {2}gfx1030 {2}AMD-0000:0a:00\.0 {2}AMD GPUs were never tested with this program$/,
  );
  expect(line(RADEONS, 2)).toContain('gfx1036, part of the processor');
  expect(line(RADEONS_WITHOUT_ROCM, 0)).toMatch(/not usable: it needs PyTorch for ROCm; .* --python PATH/);
});
