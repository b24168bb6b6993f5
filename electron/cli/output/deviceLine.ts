import { type DeviceReport, formatCount, formatMeasures, formatPercent } from '../../engine/index.ts';

/** How a device did in a run, in one line. */
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
