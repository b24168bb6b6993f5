import { deviceReports, type DeviceReport } from './deviceReport.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { RunEvent, RunTimings, StoredRun } from '../../store/types.ts';
import { describeImbalance } from '../progress/imbalance.ts';

/** This many of the newest warnings are included; run.db and logs/run.log hold all of them. */
const REMARKS = 100;

/** The course of a run, as `status` and run.json report it. */
export interface RunReport {
  run: StoredRun;
  timings: RunTimings;
  devices: DeviceReport[];
  /** A sentence if devices of one kind were not equally fast. */
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
