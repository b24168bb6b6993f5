import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunRequest, RunSummary } from '../../contract/rpc/runs.ts';
import type { EngineBase } from '../engineBase.ts';
import { openLibraryStore } from '../store/libraryStore.ts';
import type { LibraryStore } from '../store/types.ts';
import { sweepOrphans } from '../workers/orphanSweep.ts';
import { processRecordsFolder } from '../workers/processRecords.ts';
import { Inspections } from './computer/inspections.ts';
import { KnownPaths } from './window/knownPaths.ts';
import { LiveTopic } from './runs/liveTopic.ts';
import { OpenRuns } from './runs/openRuns.ts';
import {
  PythonEnvironmentManager,
  type PythonEnvironmentOptions,
} from './computer/pythonEnvironmentManager.ts';
import { RunCatalog } from './runs/runCatalog.ts';
import { RunControl } from './runs/runControl.ts';
import { hasEnded } from './runs/runSummary.ts';
import { RunWatch } from './runs/runWatch.ts';
import { UserSettings } from './userSettings.ts';
import { SpeedHistory } from './questions/speedHistory.ts';
import { WeightDownloads } from './computer/weightDownloads.ts';

const LIST_INTERVAL_MS = 500;
const CLOSE_DEADLINE_MS = 15_000;
/** A fraction in the list that moves by less isn't worth sending all runs again. */
const FRACTION_STEPS = 200;

export interface ServiceOptions extends PythonEnvironmentOptions {
  /** Where results go that belong beside no file of the user's. */
  resultsFolder?: string;
}

/** The product without a window: what all windows share. The router makes the contract's calls of it. */
export interface Service {
  readonly engine: EngineBase;
  readonly gate: PythonEnvironmentManager;
  readonly settings: UserSettings;
  readonly speeds: SpeedHistory;
  readonly open: OpenRuns;
  readonly catalog: RunCatalog;
  readonly control: RunControl;
  readonly watch: RunWatch;
  readonly inspections: Inspections;
  readonly downloads: WeightDownloads;
  readonly known: KnownPaths;
  /** All runs, with their places in the queue. */
  readonly list: LiveTopic<RunSummary[]>;
  /** Where the results of a request go that names no folder: the user's choice, else beside the first input. */
  readonly resultsParent: (request: RunRequest) => string;
  /** Tells of every run that has come to rest. */
  readonly onRest: (listener: (run: RunSummary) => void) => () => void;
  /** Brings the run at work to rest and closes every database; kills what is not done by the deadline. */
  readonly close: (deadlineMs?: number) => Promise<void>;
}

export async function openService(base: EngineBase, options: ServiceOptions = {}): Promise<Service> {
  await sweepOrphans(processRecordsFolder(base.paths));
  const library = await openLibraryStore(join(base.paths.dataDir, 'library.db'), {
    hostEntry: base.storeHost,
  });
  const engine = withLearntBatches(base, library);
  const resultsFolder = options.resultsFolder ?? join(homedir(), 'VirNucPro results');
  const [settings, speeds] = await Promise.all([
    UserSettings.open(library, engine.paths),
    SpeedHistory.open(library),
  ]);
  const gate = new PythonEnvironmentManager(engine, options);
  const inspections = new Inspections(gate);
  const open = new OpenRuns(engine.storeHost);
  const restListeners = new Set<(run: RunSummary) => void>();

  // First of all, since what comes after tells it of changes; it asks them only when somebody watches.
  const list = new LiveTopic<RunSummary[]>({
    take: () => catalog.all().map(withFraction),
    intervalMs: LIST_INTERVAL_MS,
    polls: () => control.queue.active !== null,
  });
  const catalog = new RunCatalog(library, open, () => {
    list.changed();
  });
  await catalog.load();
  const control = await RunControl.open({
    library,
    catalog,
    open,
    gate,
    changed: (runId) => {
      watch.changed(runId);
      list.changed();
    },
    rested: (run) => {
      for (const listener of restListeners) listener(run);
      if (hasEnded(run.state))
        void open.read(run.folder, (store) => speeds.learn(store)).catch(() => undefined);
    },
    inspected: (path, chunkLength) => inspections.recall(path, chunkLength),
  });
  const placed = (summary: RunSummary): RunSummary => ({
    ...summary,
    queuePosition: control.queue.position(summary.runId),
  });
  const watch = new RunWatch(open, catalog, placed);
  const withFraction = (summary: RunSummary): RunSummary => {
    const fraction = open.session(summary.folder)?.progress().fraction ?? summary.fraction;
    return {
      ...placed(summary),
      fraction: fraction === null ? null : Math.floor(fraction * FRACTION_STEPS) / FRACTION_STEPS,
    };
  };
  const known = new KnownPaths(engine.paths, catalog, resultsFolder);
  const downloads = new WeightDownloads(gate);

  return {
    engine,
    gate,
    settings,
    speeds,
    open,
    catalog,
    control,
    watch,
    inspections,
    downloads,
    known,
    list,
    resultsParent: ({ inputs: [first = ''] }) =>
      settings.current.outputFolder ?? (known.isOwn(first) ? resultsFolder : dirname(first)),
    onRest: (listener) => {
      restListeners.add(listener);
      return () => {
        restListeners.delete(listener);
      };
    },
    close: async (deadlineMs = CLOSE_DEADLINE_MS) => {
      gate.stop();
      downloads.stop();
      await control.close(deadlineMs);
      await open.close();
      await library.close();
    },
  };
}

function withLearntBatches(base: EngineBase, library: LibraryStore): EngineBase {
  return {
    ...base,
    learntBatches: {
      recall: (of) => library.learntBatch(of),
      // A size that couldn't be kept is found out again.
      remember: (batch) => void library.saveLearntBatch(batch).catch(() => undefined),
    },
  };
}
