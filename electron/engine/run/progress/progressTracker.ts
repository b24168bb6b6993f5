import type { PrepareProgress } from '../../../contract/protocol/index.ts';
import type { DeviceLive, RunProgress } from '../../../contract/rpc/runs.ts';
import type { InputProgress, RunCounts, StoredRun } from '../../store/types.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { WorkElsewhere } from '../shares/shareStatus.ts';
import type { RunRecord } from '../runRecord.ts';
import { runProgress, type Speeds } from './runProgress.ts';
import type { DeviceTelemetry } from './deviceTelemetry.ts';

const REFRESH_INTERVAL_MS = 500;

/** The figures that a work session provides. */
interface WorkShown {
  readonly prepareProgress: PrepareProgress | null;
  readonly prepareFinished: boolean;
  readonly partsInWork: number;
  /** Devices of this computer. */
  devices: () => readonly DeviceTelemetry[];
  readonly onCluster: ClusterShown | undefined;
}

interface ClusterShown {
  readonly workElsewhere: WorkElsewhere;
  devices: () => readonly DeviceLive[];
}

/** A run's progress: the store's counts, refreshed while the run computes. */
export class ProgressTracker {
  private readonly store: RunStore;
  private counts: RunCounts;
  private inputs: InputProgress[];
  private timer: NodeJS.Timeout | undefined;
  private highestFraction = 0;
  /** When this work session began to compute. */
  private firstResidues: { at: number; done: number } | undefined;

  private constructor(store: RunStore, counts: RunCounts, inputs: InputProgress[]) {
    this.store = store;
    this.counts = counts;
    this.inputs = inputs;
  }

  static async open(store: RunStore, run: StoredRun): Promise<ProgressTracker> {
    return new ProgressTracker(store, run.counts, await store.inputProgress());
  }

  beginWork(refresh: () => void): void {
    this.allowStepBack();
    this.timer = setInterval(refresh, REFRESH_INTERVAL_MS);
  }

  endWork(): void {
    clearInterval(this.timer);
    this.firstResidues = undefined;
  }

  /** The amount of work has grown, for example because parts must be recomputed. */
  allowStepBack(): void {
    this.highestFraction = 0;
  }

  async refresh(): Promise<void> {
    [this.counts, this.inputs] = await Promise.all([this.store.counts(), this.store.inputProgress()]);
  }

  progress(
    { stored: run, elapsedSeconds }: Pick<RunRecord, 'stored' | 'elapsedSeconds'>,
    session: WorkShown | undefined,
    now: number,
  ): RunProgress {
    const devices = session?.devices() ?? [];
    const cluster = session?.onCluster;
    const rates = [
      ...devices.map((device) => device.residuesPerSecond(now)),
      ...(cluster?.devices().map((device) => device.residuesPerSecond) ?? []),
    ].filter((rate) => rate !== null);
    const starting = devices.filter((device) => device.isStarting).length;
    const residuesPerSecond = rates.length > 0 ? rates.reduce((sum, rate) => sum + rate, 0) : null;
    const residuesInWork = devices.reduce((sum, device) => sum + device.residuesInWork, 0);
    const elsewhere = cluster?.workElsewhere;
    const notStored = residuesInWork + (elsewhere?.residues ?? 0);
    const atWork = {
      prepare: session?.prepareProgress ?? null,
      // Prepare's findings count as known only together with the counts that belong to them.
      prepareFinished: run.prepared !== null && (session?.prepareFinished ?? true),
      residuesInWork,
      partsInWork: session?.partsInWork ?? 0,
      elsewhere,
      residuesPerSecond,
      speeds:
        residuesPerSecond === null
          ? null
          : this.speeds(residuesPerSecond, notStored, 1 + starting / rates.length),
    };
    const progress = runProgress(run, this.counts, this.inputs, elapsedSeconds, atWork);
    if (!progress.prepare.finished || !session) return progress;
    // Counts and telemetry are read at slightly different times: a part that was just stored is briefly in
    // neither.
    this.highestFraction = Math.max(this.highestFraction, progress.fraction ?? 0);
    return { ...progress, fraction: this.highestFraction };
  }

  private speeds(now: number, notStored: number, growth: number): Speeds | null {
    const done = this.counts.residues.done + notStored;
    const at = performance.now();
    // Time before the first residues was spent loading the model and says nothing about the rest.
    this.firstResidues ??= { at, done };
    const seconds = (at - this.firstResidues.at) / 1000;
    const overall = (done - this.firstResidues.done) / seconds;
    return overall > 0 ? { now, overall, seconds, growth } : null;
  }
}
