import {
  abilityWords,
  AMD_UNTESTED,
  blockedGpu,
  formatBytes,
  type DeviceReport,
  formatCount,
  formatMeasures,
  formatPercent,
} from '../../engine/index.ts';
import type { ProbedGpu } from '../../contract/protocol/index.ts';

/** A device's performance in a run, in one line. */
export function deviceLine(device: DeviceReport): string {
  const { busy_share, energy_wh } = device;
  return [
    `${device.name} (${device.id}): ${formatCount(device.parts)} parts`,
    `${formatCount(device.residues)} residues`,
    ...(busy_share === null
      ? []
      : [
          `at work ${formatPercent(busy_share)} of the time${device.kept_busy === false ? ' (less than 80 %)' : ''}`,
        ]),
    formatMeasures({
      residuesPerSecond: device.residues_per_second,
      utilizationPercent: device.utilization_mean_percent,
      memoryBytes: device.memory_peak_bytes,
      powerW: device.power_mean_w,
    }),
    ...(energy_wh === null ? [] : [`${energy_wh.toFixed(1)} Wh`]),
    ...(device.switched_off === null ? [] : [`switched off: ${device.switched_off}`]),
  ].join(', ');
}

/** Describes a GPU of this computer in one line, for `devices`. */
export function gpuLine(gpu: ProbedGpu): string {
  const users = gpu.processes.map(({ name, pid }) => name ?? `process ${pid}`);
  const blocked = blockedGpu(gpu, 'it');
  return [
    `GPU ${gpu.index}`,
    gpu.name,
    `${formatBytes(gpu.memory_free_bytes)} of ${formatBytes(gpu.memory_total_bytes)} free`,
    abilityWords(gpu),
    gpu.uuid,
    ...(gpu.visible ? [] : ['hidden by an environment variable']),
    ...(blocked ? [`not usable: ${blocked.cause} ${blocked.nextStep}`] : []),
    ...(gpu.vendor === 'amd' ? [AMD_UNTESTED] : []),
    ...(users.length > 0 ? [`in use by ${users.join(', ')}`] : []),
  ].join('  ');
}
