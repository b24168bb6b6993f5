import type { RunStore } from '../../store/runStoreFace.ts';

interface ThroughputPoint {
  /** Seconds since the epoch. */
  time: number;
  residuesPerSecond: Record<string, number>;
}

const MOST_POINTS = 600;
const STEP_MS = 1_000;

/** Residues per second and device over the whole run: at most 600 points, each the mean over its interval. */
export async function throughputOf(store: RunStore): Promise<ThroughputPoint[]> {
  const { devices } = await store.loadRun();
  const spans = (await Promise.all(devices.map(({ id }) => store.sampleSpan(id)))).filter(
    (span) => span !== null,
  );
  if (spans.length === 0) return [];
  const span = {
    first: Math.min(...spans.map(({ first }) => first)),
    last: Math.max(...spans.map(({ last }) => last)),
  };
  const step = Math.max(STEP_MS, Math.ceil((span.last - span.first + 1) / MOST_POINTS));
  const points = new Map<number, Record<string, number>>();
  for (const { id } of devices) {
    for (const { time, residuesPerSecond } of await store.sampleMeans(id, span, step)) {
      if (residuesPerSecond === null) continue;
      points.set(time, { ...points.get(time), [id]: residuesPerSecond });
    }
  }
  return [...points]
    .sort(([a], [b]) => a - b)
    .map(([time, residuesPerSecond]) => ({ time: time / 1000, residuesPerSecond }));
}
