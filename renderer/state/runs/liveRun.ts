import { QueryObserver } from '@tanstack/react-query';
import type { DeviceLive, RunLive, RunProgress } from '../../../electron/contract/index.ts';
import { queries } from '../connection.ts';
import { queryClient } from '../queryClient.ts';
import { create } from 'zustand';

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

const NOTHING: LiveRunState = { runId: null, live: null, error: null, speeds: {} };

export const useLiveRun = create<LiveRunState>(() => NOTHING);

/** Follows one run; the snapshots of the one before are dropped at once. */
export function followRun(runId: string): () => void {
  useLiveRun.setState({ ...NOTHING, runId }, true);
  const observer = new QueryObserver(
    queryClient,
    queries.runs.watch.experimental_liveOptions({ input: { runId } }),
  );
  return observer.subscribe(({ data, error, isFetchedAfterMount }) =>
    useLiveRun.setState((state) => ({
      error,
      ...(data && { live: data }),
      // A snapshot that an earlier look at the run has left is no measurement of now.
      ...(data && isFetchedAfterMount && { speeds: withSpeeds(state.speeds, data.devices, Date.now()) }),
    })),
  );
}

/** Adds a sample per device when the last one is old enough, and lets go of those that left the window. */
export function withSpeeds(
  speeds: SpeedHistory,
  devices: readonly Pick<DeviceLive, 'id' | 'residuesPerSecond'>[],
  now: number,
): SpeedHistory {
  let changed: Record<string, readonly SpeedSample[]> | null = null;
  for (const device of devices) {
    const samples = speeds[device.id] ?? [];
    const last = samples.at(-1);
    if (last && now - last.time < SPEED_STEP_MS) continue;
    changed ??= { ...speeds };
    changed[device.id] = [
      ...samples.filter((sample) => now - sample.time <= SPEED_WINDOW_MS),
      { time: now, residuesPerSecond: device.residuesPerSecond ?? 0 },
    ];
  }
  return changed ?? speeds;
}

/**
 * Turns residues per second into the sequences a minute that people count, those without an open reading frame included.
 * Null until enough is prepared to tell.
 */
export function sequencesPerMinute(
  residuesPerSecond: number | null,
  progress: Pick<RunProgress, 'prepare' | 'residues'> | undefined,
): number | null {
  if (residuesPerSecond === null || !progress || progress.residues.total === 0) return null;
  return (60 * residuesPerSecond * progress.prepare.records) / progress.residues.total;
}

/** Puts what the engine remembers before what this window saw, so that a reload does not empty the curves. */
export function seedSpeeds(
  points: readonly { time: number; residuesPerSecond: Record<string, number> }[],
  now: number,
): void {
  useLiveRun.setState(({ speeds }) => {
    const seeded: Record<string, readonly SpeedSample[]> = { ...speeds };
    const deviceIds = new Set(points.flatMap((point) => Object.keys(point.residuesPerSecond)));
    for (const id of deviceIds) {
      const seen = speeds[id] ?? [];
      const firstSeen = seen[0]?.time ?? now;
      const earlier = points
        .map((point) => ({ time: point.time * 1000, residuesPerSecond: point.residuesPerSecond[id] ?? 0 }))
        .filter((sample) => sample.time < firstSeen && now - sample.time <= SPEED_WINDOW_MS);
      seeded[id] = [...earlier, ...seen];
    }
    return { speeds: seeded };
  });
}
