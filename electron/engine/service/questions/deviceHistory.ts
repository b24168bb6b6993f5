import type { DeviceHistory } from '../../../contract/rpc/runs.ts';
import { deviceReports } from '../../run/finish/deviceReport.ts';
import { findImbalance } from '../../run/progress/imbalance.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { DeviceSampleRow } from '../../store/types.ts';

const MOST_POINTS = 120;
const STEP_MS = 1_000;

/** How each device did over the whole run: at most 120 points of each, and what they come to. */
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
      points: pointsOf(await store.samples(report.id, 0, Number.MAX_SAFE_INTEGER)),
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

/** Means over equal stretches of time; stretches without any sample are left out. */
function pointsOf(samples: readonly DeviceSampleRow[]): DeviceHistory['points'] {
  const [first] = samples;
  const last = samples.at(-1);
  if (!first || !last) return [];
  const step = Math.max(STEP_MS, Math.ceil((last.time - first.time + 1) / MOST_POINTS));
  const slots = Map.groupBy(samples, ({ time }) => Math.floor((time - first.time) / step));
  return [...slots].map(([slot, rows]) => {
    const mean = (value: (row: DeviceSampleRow) => number | null): number | null => {
      const known = rows.map(value).filter((one) => one !== null);
      return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length;
    };
    return {
      time: (first.time + slot * step) / 1000,
      utilizationPercent: mean((row) => row.utilizationPercent),
      memoryUsedBytes: mean((row) => row.memoryUsedBytes),
      powerW: mean((row) => row.powerW),
      temperatureC: mean((row) => row.temperatureC),
      residuesPerSecond: mean((row) => row.residuesPerSecond),
    };
  });
}
