import type { DeviceHistory } from '../../../contract/rpc/runs.ts';
import { deviceReports } from '../../run/finish/runJson.ts';
import { findImbalance } from '../../run/progress/remarks.ts';
import type { RunStore } from '../../store/runStore.ts';

const MOST_POINTS = 240;
/** Of all devices together; a cluster may have a thousand. */
const MOST_POINTS_OF_ALL = 60_000;
const STEP_MS = 1_000;

/** The performance of each device over the whole run: at most 240 points each, at the same times, and their summary. */
export async function deviceHistoryOf(store: RunStore): Promise<DeviceHistory[]> {
  const [{ devices }, done, measured, timings] = await Promise.all([
    store.loadRun(),
    store.deviceSummaries(),
    store.deviceMeasures(),
    store.timings(),
  ]);
  const slow = findImbalance(devices, done);
  const reports = deviceReports(devices, done, measured, timings);
  const spans = (await Promise.all(reports.map(({ id }) => store.sampleSpan(id)))).filter(
    (span) => span !== null,
  );
  const first = Math.min(...spans.map((span) => span.first));
  const last = Math.max(...spans.map((span) => span.last));
  const most = Math.min(MOST_POINTS, Math.ceil(MOST_POINTS_OF_ALL / reports.length));
  const step = Math.max(STEP_MS, Math.ceil((last - first + 1) / most));
  return Promise.all(
    reports.map(async (report) => ({
      id: report.id,
      // Means over equal intervals; intervals without a sample are left out.
      points: (await store.sampleMeans(report.id, { first, last }, step)).map(({ time, ...mean }) => ({
        time: time / 1000,
        ...mean,
      })),
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
