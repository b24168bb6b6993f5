import { deviceReports, type DeviceReport } from './deviceReport.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { RunEvent, RunTimings, StoredRun } from '../../store/types.ts';
import { describeImbalance } from '../progress/imbalance.ts';

/** The newest so many warnings are told; all of them stand in run.db and logs/run.log. */
const REMARKS = 100;

/** How a run went, or goes: what `status` and run.json tell of it. */
export interface RunReport {
  run: StoredRun;
  timings: RunTimings;
  devices: DeviceReport[];
  /** In words, where devices of one kind were not equally fast. */
  uneven: string | null;
  remarks: RunEvent[];
}

export async function readRunReport(store: RunStore): Promise<RunReport> {
  const [run, timings, done, measured, remarks] = await Promise.all([
    store.loadRun(),
    store.timings(),
    store.deviceSummaries(),
    store.deviceMeasures(),
    store.remarks(REMARKS),
  ]);
  return {
    run,
    timings,
    devices: deviceReports(run.devices, done, measured, timings),
    uneven: describeImbalance(run.devices, done)?.text ?? null,
    remarks,
  };
}
