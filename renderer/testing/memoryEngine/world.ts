import {
  type OtherComputer,
  settingsSchema,
  type DeviceLive,
  type ModelStatus,
  type PackOffline,
  type Precision,
  type ProbeResult,
  type RunSummary,
  type Settings,
} from '../../../electron/contract/index.ts';
import { madeDevices, madeProbe, MODELS } from './computer.ts';
import { MadeEnvironment } from './environment.ts';
import { madeRuns } from './runs.ts';

export interface MemoryEngineOptions {
  readonly runs?: 'none' | 'many';
  readonly sequences?: number;
  readonly devices?: number;
  /** The finished run has this many files, each with a sample of its own, and the tables of two other tools. */
  readonly samples?: number;
  /** The devices are those of a Ray cluster with this many nodes. */
  readonly nodes?: number;
  /** What GPUs failed at in the test computation, by their number. */
  readonly failedAt?: Readonly<Record<number, readonly Precision[]>>;
  readonly snapshotsPerSecond?: number;
  readonly welcomeSeen?: boolean;
  /** Nothing is set up yet, and there is no model but the teaching model. */
  readonly fresh?: boolean;
  /** Other computers, as only the desktop app has them. */
  readonly computers?: readonly OtherComputer[];
}

export const isAtWork = (run: RunSummary) => run.state.phase === 'running' && !run.interrupted;

/** What there is in an invented world, and what calls change in it. */
export class World {
  readonly openedAt = Date.now();
  readonly devices: readonly DeviceLive[];
  readonly nodes: number;
  readonly probe: ProbeResult;
  readonly snapshotsPerSecond: number;
  readonly environment = new MadeEnvironment();
  models: readonly ModelStatus[] = MODELS;
  /** A folder that is being packed. */
  packing: PackOffline | null = null;
  /** Models that were checked with known sequences. */
  readonly controlled = new Set<string>(['teaching']);
  speedIsMeasured = false;
  /** Tables of other tools that belong to the finished run. */
  readonly tables: number;
  /** Another list after each change. */
  runs: RunSummary[];
  settings: Settings;
  /** Number of snapshots so far, which makes figures change. */
  tick = 0;
  private readonly sequenceCount: number;

  constructor(options: MemoryEngineOptions) {
    this.runs = options.runs === 'none' ? [] : madeRuns(this.openedAt, options.samples);
    this.tables = options.samples === undefined ? 1 : 2;
    this.settings = { ...settingsSchema.parse({}), welcomeSeen: options.welcomeSeen ?? true };
    if (options.fresh) {
      this.environment.lack();
      this.models = MODELS.filter(({ kind }) => kind !== 'imported').map((model) =>
        model.kind === 'teaching'
          ? model
          : {
              ...model,
              present: false,
              sizeBytes: null,
              sharedWith: [],
              downloadBytes: model.files.reduce((sum, file) => sum + file.sizeBytes, 0),
            },
      );
    }
    this.nodes = options.nodes ?? 0;
    this.devices = madeDevices(options.devices ?? 8, this.nodes);
    this.probe = madeProbe(this.nodes === 0 ? this.devices.length : 0, options.failedAt);
    this.snapshotsPerSecond = options.snapshotsPerSecond ?? 4;
    this.sequenceCount = options.sequences ?? 500;
  }

  has(runId: string): boolean {
    return this.runs.some((run) => run.runId === runId);
  }

  find(runId: string): RunSummary {
    const found = this.runs.find((run) => run.runId === runId);
    if (!found) throw new Error(`There is no run ${runId}`);
    return found;
  }

  change(runId: string, change: Partial<RunSummary>): void {
    this.runs = this.runs.map((run) => (run.runId === runId ? { ...run, ...change } : run));
  }

  add(run: RunSummary): void {
    this.runs = [run, ...this.runs];
  }

  remove(runId: string): void {
    this.runs = this.runs.filter((run) => run.runId !== runId);
  }

  sequencesOf({ plan }: RunSummary): number {
    return plan.model.notice === null ? this.sequenceCount : 200;
  }
}
