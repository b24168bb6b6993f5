import { expect, it } from 'vitest';
import { deviceLine } from './deviceLine.ts';

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

it('says how a device did in one line, without what was not measured', () => {
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
