import {
  type CallRule,
  type OtherComputer,
  sampleNames,
  type SampleDetails,
  settingsSchema,
  type DeviceLive,
  type ModelStatus,
  type PackOffline,
  type Precision,
  type ProbeResult,
  type RunSummary,
  type SequenceNote,
  type SequenceResult,
  type Settings,
} from '../../../electron/contract/index.ts';
import { madeProbe, MODELS } from './computer.ts';
import { MadeEnvironment } from './environment.ts';
import { madeDevices } from './runDetails.ts';
import { madeRuns, RUN_IDS } from './runs.ts';
import { madeSequences } from './sequences.ts';

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
  /** No model has to be downloaded first. */
  readonly allModels?: boolean;
  /** The window is on the engine's computer. */
  readonly sameComputer?: boolean;
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
  readonly sameComputer: boolean;
  /** Called when the list of runs has changed. */
  readonly listeners = new Set<() => void>();
  /** Numbers of the devices that the user has left out. */
  readonly excluded = new Set<number>([6]);
  readonly environment = new MadeEnvironment();
  models: readonly ModelStatus[] = MODELS;
  /** A folder that is being packed. */
  packing: PackOffline | null = null;
  /** Models whose known answers have been checked. */
  /** Models that were checked with known sequences. */
  readonly controlled = new Set<string>(['teaching']);
  speedIsMeasured = false;
  /** Sample names given by the user, by run. */
  readonly samples = new Map<string, readonly string[]>();
  /** By run, what a sample sheet says about the sample of each file. */
  readonly sampleDetails = new Map<string, readonly (SampleDetails | undefined)[]>();
  /** The user's notes, by run. */
  readonly sequenceNotes = new Map<string, SequenceNote[]>();
  /** Files of another tool's tables, by run. */
  readonly otherTables = new Map<string, readonly string[]>([
    [RUN_IDS.done, ['/data/gut_virus_summary.tsv']],
  ]);
  /** The user's rules for them, by file. */
  readonly otherRules = new Map<string, CallRule>();
  runs: readonly RunSummary[];
  settings: Settings;
  /** Number of snapshots so far, which makes figures change. */
  tick = 0;
  private readonly sequenceCount: number;
  private readonly sequencesByRun = new Map<string, SequenceResult[]>();

  constructor(options: MemoryEngineOptions) {
    this.runs = options.runs === 'none' ? [] : madeRuns(this.openedAt);
    if (options.samples !== undefined) this.addSamples(options.samples);
    this.settings = { ...settingsSchema.parse({}), welcomeSeen: options.welcomeSeen ?? true };
    if (options.allModels) this.models = MODELS.map((model) => ({ ...model, present: true }));
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
    this.sameComputer = options.sameComputer ?? true;
    this.nodes = options.nodes ?? 0;
    this.devices = madeDevices(options.devices ?? 8, this.nodes);
    this.probe = madeProbe(this.nodes === 0 ? this.devices.length : 0, options.failedAt);
    this.snapshotsPerSecond = options.snapshotsPerSecond ?? 4;
    this.sequenceCount = options.sequences ?? 20_000;
  }

  private addSamples(count: number): void {
    const paths = Array.from({ length: count }, (_, index) => `/data/projects/coast/site${index + 1}.fasta`);
    this.runs = this.runs.map((run) =>
      run.runId === RUN_IDS.done
        ? {
            ...run,
            plan: {
              ...run.plan,
              inputs: paths.map((path) => ({ path, sizeBytes: 1_000_000, sha256: '0'.repeat(64) })),
            },
            samples: sampleNames(paths),
          }
        : run,
    );
    this.otherTables.set(RUN_IDS.done, ['/data/coast_virus_summary.tsv', '/data/dvfpred.txt']);
  }

  has(runId: string): boolean {
    return this.runs.some((run) => run.runId === runId);
  }

  samplesOf(run: RunSummary): string[] {
    const named = this.samples.get(run.runId) ?? [];
    return named.length > 0 ? [...named] : sampleNames(run.plan.inputs.map(({ path }) => path));
  }

  find(runId: string): RunSummary {
    const found = this.runs.find((run) => run.runId === runId);
    if (!found) throw new Error(`There is no run ${runId}`);
    return found;
  }

  change(runId: string, change: Partial<RunSummary>): void {
    this.setRuns(this.runs.map((run) => (run.runId === runId ? { ...run, ...change } : run)));
  }

  add(run: RunSummary): void {
    this.setRuns([run, ...this.runs]);
  }

  remove(runId: string): void {
    this.setRuns(this.runs.filter((run) => run.runId !== runId));
  }

  /** Swaps it with the run at that position. */
  moveInQueue(runId: string, position: number): void {
    const from = this.find(runId).queuePosition ?? 0;
    this.runs = this.runs.map((run) =>
      run.runId !== runId && run.queuePosition === position ? { ...run, queuePosition: from } : run,
    );
    this.change(runId, { queuePosition: position });
  }

  includeDevice(id: string, included: boolean): void {
    const index = this.devices.findIndex((device) => device.id === id);
    if (included) this.excluded.delete(index);
    else this.excluded.add(index);
  }

  sequencesOf(runId: string): SequenceResult[] {
    const run = this.find(runId);
    const known = this.sequencesByRun.get(runId);
    if (known) return known;
    const whole = madeSequences(this.sequencesIn(run), run.plan.inputs.length, 3);
    const made = whole.map((one) => ({
      ...one,
      settled: run.state.phase === 'done' || one.nChunks < 3 || one.row % 3 > 0,
    }));
    this.sequencesByRun.set(runId, made);
    return made;
  }

  private sequencesIn(run: RunSummary): number {
    if (run.state.phase === 'done') return run.plan.model.notice === null ? this.sequenceCount : 200;
    return run.state.phase === 'created' ? 0 : 4000;
  }

  private setRuns(runs: readonly RunSummary[]): void {
    this.runs = runs;
    for (const listener of this.listeners) listener();
  }
}
