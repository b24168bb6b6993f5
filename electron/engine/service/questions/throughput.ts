import type { RunStore } from '../../store/runStoreFace.ts';

export interface ThroughputPoint {
  /** Seconds since the epoch. */
  time: number;
  residuesPerSecond: Record<string, number>;
}

const MOST_POINTS = 600;
const STEP_MS = 1_000;

/** Tokens per second and device over the whole run: at most 600 points, each the mean over its interval. */
export async function throughputOf(store: RunStore): Promise<ThroughputPoint[]> {
  const { devices } = await store.loadRun();
  const series = await Promise.all(
    devices.map(async ({ id }) => ({ id, samples: await store.samples(id, 0, Number.MAX_SAFE_INTEGER) })),
  );
  const times = series.flatMap(({ samples }) => samples.map(({ time }) => time));
  if (times.length === 0) return [];
  // A long run has more samples than a call may have arguments.
  const first = times.reduce((a, b) => Math.min(a, b));
  const last = times.reduce((a, b) => Math.max(a, b));
  const step = Math.max(STEP_MS, Math.ceil((last - first + 1) / MOST_POINTS));
  const points = new Map<number, Map<string, { sum: number; count: number }>>();
  for (const { id, samples } of series) {
    for (const { time, residuesPerSecond } of samples) {
      if (residuesPerSecond === null) continue;
      const slot = first + Math.floor((time - first) / step) * step;
      const devicesAt = points.get(slot) ?? new Map<string, { sum: number; count: number }>();
      const at = devicesAt.get(id) ?? { sum: 0, count: 0 };
      devicesAt.set(id, { sum: at.sum + residuesPerSecond, count: at.count + 1 });
      points.set(slot, devicesAt);
    }
  }
  return [...points.entries()]
    .sort(([a], [b]) => a - b)
    .map(([time, devicesAt]) => ({
      time: time / 1000,
      residuesPerSecond: Object.fromEntries([...devicesAt].map(([id, { sum, count }]) => [id, sum / count])),
    }));
}
