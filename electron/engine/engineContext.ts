import type { AppPaths } from './environment/appPaths.ts';
import type { PythonEnvironment } from './environment/pythonLaunch.ts';
import type { CheckedRuns } from './store/checkedRuns.ts';
import type { DeviceUse, LearntBatch } from './store/types.ts';
import type { DeadlineLimits } from './workers/deadlines.ts';

/** What every part of the engine needs to know of the program it is part of. */
export interface EngineContext {
  readonly appVersion: string;
  readonly paths: AppPaths;
  readonly environment: PythonEnvironment;
  /** File that starts the store's threads. */
  readonly storeHost: URL;
  readonly deadlines: DeadlineLimits;
  readonly restartDelayMs: number;
  /** What earlier runs found out about a device's memory. */
  readonly learntBatches?: LearntBatches;
  /** Runs whose databases need no check when they are opened. */
  readonly checkedRuns?: CheckedRuns;
  /** Aborted when the program is being closed: no run is made or opened after it. */
  readonly closing?: AbortSignal;
}

interface LearntBatches {
  recall: (of: DeviceUse) => Promise<LearntBatch | null>;
  remember: (batch: LearntBatch) => void;
}
