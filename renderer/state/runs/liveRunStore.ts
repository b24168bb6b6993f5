import { create } from 'zustand';
import type { RunLive } from '../../../electron/contract/index.ts';

export interface SpeedSample {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly residuesPerSecond: number;
}
export type SpeedHistory = Readonly<Record<string, readonly SpeedSample[]>>;

export const SPEED_WINDOW_MS = 5 * 60_000;
export const SPEED_STEP_MS = 2000;

interface LiveRunState {
  readonly runId: string | null;
  /** Null until the engine has sent the first snapshot. */
  readonly live: RunLive | null;
  readonly error: Error | null;
  readonly speeds: SpeedHistory;
}

export const NOTHING: LiveRunState = { runId: null, live: null, error: null, speeds: {} };

export const useLiveRun = create<LiveRunState>(() => NOTHING);
