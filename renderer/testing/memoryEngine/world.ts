import {
  type CallRule,
  type OtherComputer,
  sampleNames,
  settingsSchema,
  type DeviceLive,
  type ExportFormat,
  type ModelStatus,
  type PackOffline,
  type Precision,
  type ProbeResult,
  type RunSummary,
  type SequenceResult,
  type Settings,
} from '../../../electron/contract/index.ts';
import { madeDevices, madeProbe, MODELS } from './computer.ts';
import { MadeEnvironment } from './environment.ts';
import { madeRuns, RUN_IDS } from './runs.ts';
import { countCalls, madeSequences } from './sequences.ts';

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
  /** Those of the engine. */
  readonly formats?: readonly ExportFormat[];
  /** Other computers, as only the desktop app has them. */
  readonly computers?: readonly OtherComputer[];
}

/** Sequences in the files of a run that is not done. */
const RECORDS = 74_210;

export const isAtWork = (run: RunSummary) => run.state.phase === 'running' && !run.interrupted;

/** What there is in an invented world, and what calls change in it. */
export class World {
  readonly openedAt = Date.now();
  readonly devices: readonly DeviceLive[];
  readonly nodes: number;
  readonly probe: ProbeResult;
  readonly snapshotsPerSecond: number;
  readonly formats: readonly ExportFormat[];
  /** Called when the list of runs has changed. */
  readonly listeners = new Set<() => void>();
  /** Numbers of the devices that the user has left out. */
  readonly excluded = new Set<number>([6]);
  readonly environment = new MadeEnvironment();
  models: readonly ModelStatus[] = MODELS;
  /** A folder that is being packed. */
  packing: PackOffline | null = null;
  /** Models that were checked with known sequences. */
  readonly controlled = new Set<string>(['teaching']);
  speedIsMeasured = false;
  /** Rows on the shortlist, by run. */
  readonly shortlists = new Map<string, ReadonlySet<number>>();
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
  private readonly rows = new Map<string, SequenceResult[]>();

  constructor(options: MemoryEngineOptions) {
    this.runs = options.runs === 'none' ? [] : madeRuns(this.openedAt);
    if (options.samples !== undefined) this.addSamples(options.samples);
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
    this.formats = options.formats ?? [];
    this.nodes = options.nodes ?? 0;
    this.devices = madeDevices(options.devices ?? 8, this.nodes);
    this.probe = madeProbe(this.nodes === 0 ? this.devices.length : 0, options.failedAt);
    this.snapshotsPerSecond = options.snapshotsPerSecond ?? 4;
    this.sequenceCount = options.sequences ?? 2000;
    this.setRuns(this.runs);
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

  /** Its rows: all of a run that is done, else the first ones. */
  sequencesOf(runId: string): SequenceResult[] {
    return this.rowsOf(this.find(runId));
  }

  /** As many as are in its files. */
  recordsOf(run: RunSummary): number {
    return run.state.phase === 'done' ? this.rowsOf(run).length : RECORDS;
  }

  private rowsOf({ runId, state, plan }: RunSummary): SequenceResult[] {
    const key = JSON.stringify([runId, state]);
    const known = this.rows.get(key);
    if (known) return known;
    const isDone = state.phase === 'done';
    const [count, failed] = isDone
      ? [plan.model.notice === null ? this.sequenceCount : 200, state.failedRecords]
      : [state.phase === 'created' ? 0 : 4000, 0];
    const made = madeSequences(count, failed, plan.inputs.length, 3).map((one) => ({
      ...one,
      settled: isDone || one.nChunks < 3 || one.row % 3 > 0,
    }));
    this.rows.set(key, made);
    return made;
  }

  /** What a list of runs says of one that is done is counted in its rows. */
  private counted(run: RunSummary): RunSummary {
    if (run.state.phase !== 'done') return run;
    const { virus, others } = countCalls(this.rowsOf(run));
    return {
      ...run,
      sequences: this.recordsOf(run),
      viralSequences: virus,
      otherSequences: others,
    };
  }

  private setRuns(runs: readonly RunSummary[]): void {
    this.runs = runs.map((run) => this.counted(run));
    for (const listener of this.listeners) listener();
  }
}
