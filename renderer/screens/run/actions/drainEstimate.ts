import type { DeviceLive } from '../../../../electron/contract/index.ts';

/** Two tokens of each frame are not residues; on frames of about 166 residues that is too little to matter here. */
type WorkingDevice = Pick<DeviceLive, 'worker' | 'partFraction' | 'residuesPerSecond'>;

/**
 * Seconds until every part in work is finished: the slowest device decides. Null where no device's speed is known.
 * Both of a device's parts in flight count only as far as the first, since the second is recalled.
 */
export function drainSeconds(devices: readonly WorkingDevice[], residuesPerPart: number): number | null {
  const times = devices
    .filter(
      (device) =>
        device.worker.state === 'working' &&
        device.residuesPerSecond !== null &&
        device.residuesPerSecond > 0,
    )
    .map((device) => ((1 - (device.partFraction ?? 0)) * residuesPerPart) / (device.residuesPerSecond ?? 1));
  return times.length === 0 ? null : Math.max(...times);
}
