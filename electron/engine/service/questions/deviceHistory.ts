import type { DeviceHistory, ViralShares } from '../../../contract/rpc/runs.ts';
import { deviceReports } from '../../run/finish/runJson.ts';
import { findImbalance } from '../../run/progress/remarks.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { detailsOf, samplesOf } from '../../exports/samples.ts';
import { sharesSoFar } from '../../results/estimates/viralShare.ts';

const MOST_POINTS = 120;
const STEP_MS = 1_000;

/** The performance of each device over the whole run: at most 120 points each, and their summary. */
export async function deviceHistoryOf(store: RunStore): Promise<DeviceHistory[]> {
  const [{ devices }, done, measured, timings] = await Promise.all([
    store.loadRun(),
    store.deviceSummaries(),
    store.deviceMeasures(),
    store.timings(),
  ]);
  const slow = findImbalance(devices, done);
  const reports = deviceReports(devices, done, measured, timings);
  return Promise.all(
    reports.map(async (report) => ({
      id: report.id,
      points: await pointsOf(store, report.id),
      busyFraction: report.busy_share,
      keptBusy: report.kept_busy,
      utilizationMeanPercent: report.utilization_mean_percent,
      memoryPeakBytes: report.memory_peak_bytes,
      powerMeanW: report.power_mean_w,
      energyWh: report.energy_wh,
      slowerThan: slow?.slowest === report.id ? { id: slow.fastest, percent: slow.percent } : null,
    })),
  );
}

/** Means over equal intervals; intervals without a sample are left out. */
async function pointsOf(store: RunStore, device: string): Promise<DeviceHistory['points']> {
  const span = await store.sampleSpan(device);
  if (span === null) return [];
  const step = Math.max(STEP_MS, Math.ceil((span.last - span.first + 1) / MOST_POINTS));
  const means = await store.sampleMeans(device, span, step);
  return means.map(({ time, ...mean }) => ({ time: time / 1000, ...mean }));
}

interface ThroughputPoint {
  /** Seconds since the epoch. */
  time: number;
  residuesPerSecond: Record<string, number>;
}

const THROUGHPUT_POINTS = 600;

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
  const step = Math.max(STEP_MS, Math.ceil((span.last - span.first + 1) / THROUGHPUT_POINTS));
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

/** The viral share of a run and of its samples, as far as it is known. */
export async function viralShares(store: Pick<RunStore, 'viralSoFar' | 'loadRun'>): Promise<ViralShares> {
  const [known, run] = await Promise.all([store.viralSoFar(), store.loadRun()]);
  return sharesSoFar(known, samplesOf(run), detailsOf(run));
}

/**
 * Counting must not take more than this share of the time. A count that takes long is the first, which reads
 * every sequence and chunk; the next reads only what is new, and need not wait for long.
 */
const SHARE = 0.05;
const LONGEST_WAIT_MS = 10_000;

/** The viral shares of runs, which are counted again only from time to time while they grow. */
export class ViralSoFar {
  private readonly known = new Map<string, { answer: Promise<ViralShares>; until: number }>();

  of(
    runId: string,
    read: (ask: (store: RunStore) => Promise<ViralShares>) => Promise<ViralShares>,
  ): Promise<ViralShares> {
    const known = this.known.get(runId);
    if (known && performance.now() < known.until) return known.answer;
    const begun = performance.now();
    const entry = { answer: read(viralShares), until: Number.POSITIVE_INFINITY };
    this.known.set(runId, entry);
    void entry.answer
      .catch(() => undefined)
      .finally(() => {
        const now = performance.now();
        entry.until = now + Math.min((now - begun) / SHARE, LONGEST_WAIT_MS);
      });
    return entry.answer;
  }
}
