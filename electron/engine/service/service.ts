import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { OtherComputer } from '../../contract/rpc/computers.ts';
import type { RunRequest, RunSummary } from '../../contract/rpc/runs.ts';
import { Computers } from '../computers/computers.ts';
import type { EngineBase } from '../engineBase.ts';
import { CheckedRuns } from '../store/checkedRuns.ts';
import { openLibraryStore } from '../store/libraryStore.ts';
import { threadsLeft } from '../store/storeThread.ts';
import type { LibraryStore } from '../store/types.ts';
import { sweepOrphans } from '../workers/orphanSweep.ts';
import { processRecordsFolder } from '../workers/processRecords.ts';
import { AnswerChecks } from './computer/answerChecks.ts';
import { CallsUnderWay, endsWithin } from './closing.ts';
import { OfflinePacking } from './computer/offlinePacking.ts';
import { Inspections } from './computer/inspections.ts';
import { KnownPaths } from './window/knownPaths.ts';
import type { PathPolicy } from './window/windowContext.ts';
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
import { expectedStarts, workLeft } from './runs/expectedStarts.ts';
import type { SecondsRange } from './questions/runSpeeds.ts';
import { SpeedHistory } from './questions/speedHistory.ts';
import { WeightDownloads } from './computer/weightDownloads.ts';

const LIST_INTERVAL_MS = 500;
/** A question of ssh, and how far something is, are shown as they come. */
const OTHERS_INTERVAL_MS = 100;
const CLOSE_DEADLINE_MS = 15_000;
/** How the time for closing is shared out: what is left is for databases. */
const PAUSE_SHARE = 0.5;
const STOP_SHARE = 0.2;
/** A call that reads a database is ended by closing it. */
const CALLS_MS = 1_000;
/** A fraction in the list that moves by less isn't worth sending all runs again. */
const FRACTION_STEPS = 200;

interface ServiceOptions extends PythonEnvironmentOptions {
  /** Where results go that belong beside no file of the user's. */
  resultsFolder?: string;
  /** What is installed on other computers, in place of the program's own package. */
  serverPackage?: string | undefined;
}

/** The product without a window: what all windows share. The router makes the contract's calls of it. */
export interface Service {
  readonly engine: EngineBase;
  readonly pythonEnvironment: PythonEnvironmentManager;
  readonly settings: UserSettings;
  readonly speeds: SpeedHistory;
  readonly open: OpenRuns;
  readonly catalog: RunCatalog;
  readonly control: RunControl;
  readonly watch: RunWatch;
  readonly inspections: Inspections;
  readonly downloads: WeightDownloads;
  readonly answers: AnswerChecks;
  readonly packing: OfflinePacking;
  readonly known: KnownPaths;
  readonly calls: CallsUnderWay;
  /** Reached by SSH. */
  readonly others: Computers;
  readonly otherComputers: LiveTopic<OtherComputer[]>;
  /** All runs, with their places in the queue. */
  readonly list: LiveTopic<RunSummary[]>;
  /** Where the results of a request go that names no folder: the user's choice, else beside the first input; below the
   * root where there is one. */
  readonly resultsParent: (
    request: RunRequest,
    policy: Pick<PathPolicy, 'root' | 'allows'>,
  ) => Promise<string>;
  /** Tells of every run that has come to rest. */
  readonly onRest: (listener: (run: RunSummary) => void) => () => void;
  /** Brings the run at work to rest and closes every database; nothing begins after it. False where something, such as a
   * thread with a database, had not ended by the deadline. */
  readonly close: (deadlineMs?: number) => Promise<boolean>;
}

export async function openService(base: EngineBase, options: ServiceOptions = {}): Promise<Service> {
  await sweepOrphans(processRecordsFolder(base.paths));
  const library = await openLibraryStore(join(base.paths.dataDir, 'library.db'), {
    hostEntry: base.storeHost,
  });
  const closed = new AbortController();
  const engine = {
    ...withLearntBatches(base, library),
    checkedRuns: await rememberCheckedRuns(library),
    closing: closed.signal,
  };
  const resultsFolder = options.resultsFolder ?? join(homedir(), 'VirNucPro results');
  const [settings, speeds] = await Promise.all([
    UserSettings.open(library, engine.paths),
    SpeedHistory.open(library),
  ]);
  const pythonEnvironment = new PythonEnvironmentManager(engine, options);
  const inspections = new Inspections(pythonEnvironment);
  const open = new OpenRuns(engine);
  const restListeners = new Set<(run: RunSummary) => void>();
  const calls = new CallsUnderWay();
  let learning: Promise<void> = Promise.resolve();

  // First, because the parts below report changes to it; it queries them only while a window watches.
  const list = new LiveTopic<RunSummary[]>({
    take: () => {
      const expected = starts();
      return catalog.all().map((summary) => withFraction(summary, expected));
    },
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
    pythonEnvironment,
    changed: (runId) => {
      watch.changed(runId);
      list.changed();
    },
    rested: (run) => {
      for (const listener of restListeners) listener(run);
      if (!hasEnded(run.state)) return;
      learning = learning
        .then(() => open.read(run.folder, (store) => speeds.learn(store)))
        // What could not be learnt is learnt from the next run.
        .catch(() => undefined);
    },
    inspected: (path, chunkLength) => inspections.recall(path, chunkLength),
  });
  const means = ({ plan }: RunSummary) => ({ modelHash: plan.model.hash, precision: plan.precision });
  const starts = (): Map<string, SecondsRange> => {
    const { active, order, isHeld } = control.queue;
    if (order.length === 0) return new Map();
    const atWork = active === null ? undefined : catalog.find(active);
    const session = atWork && open.session(atWork.folder);
    const pace = session?.pace();
    const shown =
      atWork?.expected && pace ? { ...means(atWork), deviceNames: atWork.expected.deviceNames, pace } : null;
    const seconds = (run: RunSummary): SecondsRange | null => {
      const left = workLeft(run);
      return left && speeds.secondsWaiting({ ...means(run), ...left }, shown);
    };
    const remaining = (run: RunSummary): SecondsRange | null => {
      const progress = session?.progress();
      // Of one that has computed nothing yet, everything is left.
      const fraction = progress?.parts.done === 0 ? 0 : (progress?.fraction ?? run.fraction);
      return progress?.remainingSeconds ?? seconds({ ...run, fraction });
    };
    return expectedStarts({
      waiting: order,
      held: isHeld,
      remaining: atWork && remaining(atWork),
      duration: (runId) => seconds(catalog.find(runId)),
    });
  };
  const placed = (summary: RunSummary, expected: ReadonlyMap<string, SecondsRange>): RunSummary => ({
    ...summary,
    queuePosition: control.queue.position(summary.runId),
    starting: control.isStarting(summary),
    startsInSeconds: expected.get(summary.runId) ?? null,
  });
  const watch = new RunWatch(open, catalog, (summary) => placed(summary, starts()));
  const withFraction = (summary: RunSummary, expected: ReadonlyMap<string, SecondsRange>): RunSummary => {
    const fraction = open.session(summary.folder)?.progress().fraction ?? summary.fraction;
    return {
      ...placed(summary, expected),
      fraction: fraction === null ? null : Math.floor(fraction * FRACTION_STEPS) / FRACTION_STEPS,
    };
  };
  const known = new KnownPaths(engine.paths, catalog, resultsFolder);
  const downloads = new WeightDownloads(pythonEnvironment);
  const answers = new AnswerChecks(pythonEnvironment);
  const packing = new OfflinePacking(pythonEnvironment);
  const otherComputers = new LiveTopic<OtherComputer[]>({
    take: () => others.all(),
    intervalMs: OTHERS_INTERVAL_MS,
  });
  const others = new Computers({
    dataDir: engine.paths.usualDataDir,
    root: engine.paths.root,
    version: engine.appVersion,
    serverPackage: options.serverPackage,
    changed: () => {
      otherComputers.changed();
    },
  });
  catalog.lookAround();

  const close = async (deadlineMs: number): Promise<boolean> => {
    const end = performance.now() + deadlineMs;
    const inTime = (work: Promise<unknown>, most = Number.POSITIVE_INFINITY): Promise<boolean> =>
      endsWithin(Math.min(most, Math.max(0, end - performance.now())), work);
    inspections.stop();
    const answered = calls.close();
    const stopped = Promise.all([
      pythonEnvironment.stop(),
      downloads.stop(),
      answers.stop(),
      packing.stop(),
      others.close(),
      otherComputers.close(),
      list.close(),
      watch.close(),
      catalog.close(),
    ]);
    await control.close(deadlineMs * PAUSE_SHARE, deadlineMs * STOP_SHARE);
    await inTime(Promise.all([answered, learning]), CALLS_MS);
    const readersEnded = await inTime(open.close());
    // What a call that is still under way would begin.
    closed.abort();
    const workEnded = await inTime(Promise.all([answered, learning, stopped]));
    const libraryEnded = await inTime(library.close());
    return libraryEnded && readersEnded && workEnded && threadsLeft() === 0;
  };
  let closing: Promise<boolean> | undefined;

  return {
    engine,
    pythonEnvironment,
    settings,
    speeds,
    open,
    catalog,
    control,
    watch,
    inspections,
    downloads,
    answers,
    packing,
    known,
    list,
    calls,
    others,
    otherComputers,
    resultsParent: async ({ inputs: [first = ''] }, policy) => {
      const beside = (await known.isOwn(first)) ? resultsFolder : dirname(resolve(first));
      for (const folder of [settings.current.outputFolder, beside]) {
        if (folder !== null && (policy.root === null || (await policy.allows(folder)))) return folder;
      }
      return resultsFolder;
    },
    onRest: (listener) => {
      restListeners.add(listener);
      return () => {
        restListeners.delete(listener);
      };
    },
    close: (deadlineMs = CLOSE_DEADLINE_MS) => (closing ??= close(deadlineMs)),
  };
}

const CHECKED_RUNS = 'checked_runs';

/** Across starts of the program. */
async function rememberCheckedRuns(library: LibraryStore): Promise<CheckedRuns> {
  const stored = z.record(z.string(), z.string()).safeParse(await library.setting(CHECKED_RUNS));
  return new CheckedRuns(
    stored.data,
    // What couldn't be kept is checked again.
    (stamps) => void library.setSetting(CHECKED_RUNS, stamps).catch(() => undefined),
  );
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
