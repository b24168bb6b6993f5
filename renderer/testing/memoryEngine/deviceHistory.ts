import type { DeviceHistory, RunFile, RunSummary } from '../../../electron/contract/index.ts';
import type { World } from './world.ts';

export const MADE_FILES: RunFile[] = [
  { name: 'chunks.tsv', bytes: 412_000_000 },
  { name: 'run.json', bytes: 48_200 },
  { name: 'sequences.tsv', bytes: 18_400_000 },
  { name: 'viral_sequences.fna', bytes: 39_100_000 },
];

/** Two and a half hours of work with a pause; the third device gets hot and slow. */
export function madeDeviceHistory(world: World, run: RunSummary): DeviceHistory[] {
  const begin = Date.parse(run.createdAt) / 1000;
  return world.devices.map((device, index) => {
    const isSlow = index === 2;
    return {
      id: device.id,
      points: Array.from({ length: 120 }, (_, point) => point)
        .filter((point) => point < 60 || point > 70)
        .map((point) => {
          const wave = Math.sin(point / 9 + index);
          return {
            time: begin + point * 18,
            utilizationPercent: 94 + 4 * wave,
            memoryUsedBytes: (61 + 2 * wave) * 2 ** 30,
            powerW: (isSlow ? 330 : 610) + 30 * wave,
            temperatureC: (isSlow ? 88 : 64) + 2 * wave,
            residuesPerSecond: (isSlow ? 29_000 : 41_000) + 1_500 * wave,
          };
        }),
      busyFraction: isSlow ? 0.71 : 0.96,
      keptBusy: !isSlow,
      utilizationMeanPercent: 94.2,
      memoryPeakBytes: 64 * 2 ** 30,
      powerMeanW: isSlow ? 330 : 610,
      energyWh: isSlow ? 231 : 427,
      slowerThan: isSlow ? { id: world.devices[0]?.id ?? '', percent: 29 } : null,
    };
  });
}
