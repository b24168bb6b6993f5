import { expect, it } from 'vitest';
import { gpuLine, deviceLine } from './terminal.ts';
import { EIGHT_H200, RADEONS, RADEONS_WITHOUT_ROCM } from '../../engine/devices/testing/probeExamples.ts';
import type { ProbeResult } from '../../contract/protocol/index.ts';

const gpu = {
  id: 'GPU-1',
  name: 'NVIDIA H200',
  kind: 'cuda' as const,
  switched_off: null,
  parts: 22,
  frames: 14_798,
  residues: 2_426_392,
  seconds: 24.8,
  residues_per_second: 97_838.4,
  busy_share: 0.984,
  kept_busy: true,
  utilization_mean_percent: 99.6,
  utilization_median_percent: 100,
  memory_peak_bytes: 8_540_000_000,
  power_mean_w: 691.2,
  energy_wh: 5.04,
};

it("describes a device's performance in one line, without missing measurements", () => {
  expect(deviceLine(gpu)).toBe(
    'NVIDIA H200 (GPU-1): 22 parts, 2,426,392 residues, at work 98 % of the time, ' +
      '97,838 residues/s, 100 % busy, 8.54 GB, 691 W, 5.0 Wh',
  );
  const cpu = {
    utilization_mean_percent: null,
    power_mean_w: null,
    energy_wh: null,
    memory_peak_bytes: null,
  };
  expect(deviceLine({ ...gpu, ...cpu, switched_off: 'It died four times.' })).toBe(
    'NVIDIA H200 (GPU-1): 22 parts, 2,426,392 residues, at work 98 % of the time, 97,838 residues/s, ' +
      'switched off: It died four times.',
  );
});

function line(probe: ProbeResult, index: number, facts: object = {}): string {
  const gpu = probe.gpus[index];
  if (!gpu) throw new Error('no such GPU');
  return gpuLine({ ...gpu, ...facts });
}

it('describes a GPU, the processes that use it, and what blocks it', () => {
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
