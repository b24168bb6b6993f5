import type { DeviceHistory } from '../../../contract/rpc/runs.ts';
import { deviceReports } from '../../run/finish/deviceReport.ts';
import { findImbalance } from '../../run/progress/imbalance.ts';
import type { RunStore } from '../../store/runStoreFace.ts';

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
