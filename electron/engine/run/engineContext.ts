import type { AppPaths } from '../environment/appPaths.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import type { CheckedRuns } from '../store/checkedRuns.ts';
import type { StartModule } from '../store/duckdb/queryProcess.ts';
import type { DeviceUse, LearntBatch } from '../store/types.ts';
import { DEADLINES, type DeadlineLimits } from '../workers/deadlines.ts';
import type { WarmWorkers } from '../workers/warmWorkers.ts';

/** What every part of the engine needs to know about the program that contains it. */
export interface EngineContext {
  readonly appVersion: string;
  readonly paths: AppPaths;
  readonly environment: PythonEnvironment;
  /** File that starts the store's threads. */
  readonly storeHost: URL;
  /** Starts the processes of queries; without it, this program's own Node does. */
  readonly startModule?: StartModule | undefined;
  readonly deadlines: DeadlineLimits;
  readonly restartDelayMs: number;
  /** What earlier runs have learnt about a device's memory. */
  readonly learntBatches?: LearntBatches;
  /** Workers that wait for a run; without it they start and end with their run. */
  readonly warmWorkers?: WarmWorkers;
  /** Runs whose databases need no check when they are opened. */
  readonly checkedRuns?: CheckedRuns;
  /** Aborted when the program is closing: after that no run is created or opened. */
  readonly closing?: AbortSignal;
}

interface LearntBatches {
  recall: (of: DeviceUse) => Promise<LearntBatch | null>;
  remember: (batch: LearntBatch) => void;
}

/** The engine before it has a Python environment. */
export type EngineBase = Omit<EngineContext, 'environment'>;

const RESTART_DELAY_MS = 1_000;

export function engineBase(
  program: Pick<EngineBase, 'appVersion' | 'paths' | 'storeHost' | 'startModule'>,
): EngineBase {
  return { ...program, deadlines: DEADLINES, restartDelayMs: RESTART_DELAY_MS };
}
