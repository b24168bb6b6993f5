import { usage } from '../../contract/errors.ts';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { OtherComputer } from '../../contract/rpc/computers.ts';
import type { RunRequest, RunSummary } from '../../contract/rpc/runs.ts';
import { Computers } from './computers/computers.ts';
import { createRun } from '../run/begin/createRun.ts';
import type { EngineBase } from '../run/engineContext.ts';
import { CheckedRuns } from '../store/checkedRuns.ts';
import { type LibraryStore, threadsLeft } from '../store/storeThread.ts';
import { OfflinePacking } from './computer/offlinePacking.ts';
import { Inspections } from './computer/inspections.ts';
import { KnownPaths } from './window/knownPaths.ts';
import type { PathPolicy } from './window/windowContext.ts';
import { LiveTopic } from './changes.ts';
import { OpenRuns } from './runs/openRuns.ts';
import {
  PythonEnvironmentManager,
  type PythonEnvironmentOptions,
} from './computer/pythonEnvironmentManager.ts';
import { openLibrary, hasEnded } from './runs/runSummary.ts';
import { RunCatalog } from './runs/runCatalog.ts';
import { RunControl } from './runs/runControl.ts';
import { RunWatch } from './runs/runWatch.ts';
import { UserSettings } from './userSettings.ts';
import { SpeedHistory } from './questions/speedHistory.ts';
import { UserChecks } from './computer/checks.ts';
import { WarmWorkers } from '../workers/warmWorkers.ts';
import { WeightDownloads } from './computer/weightDownloads.ts';

/** A question from ssh, and progress, are shown as they come. */
const OTHERS_INTERVAL_MS = 100;
const LIST_INTERVAL_MS = 500;
/** A smaller change of a fraction isn't worth sending all runs again. */
const FRACTION_STEPS = 200;
const CLOSE_DEADLINE_MS = 15_000;
/** The share of the closing time for pausing runs; databases get the rest. */
const PAUSE_SHARE = 0.5;
const STOP_SHARE = 0.2;
/** A call that reads a database is ended by closing the database. */
const CALLS_MS = 1_000;

interface ServiceOptions extends PythonEnvironmentOptions {
  /** The folder for results that belong beside no file of the user's. */
  resultsFolder?: string;
  /** A folder whose server/ and uv/ are installed on other computers, instead of the program's own. */
  serverPackage?: string | undefined;
}

/**
 * The product without a window, which all windows share. The router implements the contract's calls with it.
 */
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
  readonly checks: UserChecks;
  readonly packing: OfflinePacking;
  readonly known: KnownPaths;
  /** Files that were exported since the program started: the desktop app opens no others on request of a page. */
  readonly exported: Set<string>;
  readonly calls: CallsUnderWay;
  /** Other computers, reached through SSH. */
  readonly others: Computers;
  readonly otherComputers: LiveTopic<OtherComputer[]>;
  /** All runs, with their places in the queue. */
  readonly list: LiveTopic<RunSummary[]>;
  /**
   * The parent folder for the results of a request that names no folder: the user's choice, else beside the
   * first input; below the root if there is one.
   */
  readonly resultsParent: (
    request: RunRequest,
    policy: Pick<PathPolicy, 'root' | 'allows'>,
  ) => Promise<string>;
  /** Calls a listener for every run that has stopped. */
  readonly onRest: (listener: (run: RunSummary) => void) => () => void;
  /**
   * Stops the running run and closes every database; nothing begins after it. False if something, such as a
   * thread with a database, had not ended by the deadline.
   */
  readonly close: (deadlineMs?: number) => Promise<boolean>;
}

export async function openService(base: EngineBase, options: ServiceOptions = {}): Promise<Service> {
  const library = await openLibrary(base);
  const closed = new AbortController();
  const warmWorkers = new WarmWorkers();
  const engine = {
    ...withLearntBatches(base, library),
    checkedRuns: await rememberCheckedRuns(library),
    closing: closed.signal,
    warmWorkers,
  };
  const resultsFolder = options.resultsFolder ?? join(homedir(), 'VirNucPro results');
  const [settings, speeds] = await Promise.all([
    UserSettings.open(library, engine.paths),
    SpeedHistory.open(library),
  ]);
  const pythonEnvironment = new PythonEnvironmentManager(engine, options);
  const inspections = new Inspections(pythonEnvironment);
  const open = new OpenRuns(engine);
  const calls = new CallsUnderWay();
  const catalog = new RunCatalog(library, open);
  await catalog.load();
  const control = await RunControl.open({
    library,
    catalog,
    open,
    pythonEnvironment,
    make: async (request, defaultParent, walk) =>
      createRun(await pythonEnvironment.context(), {
        ...{ request, defaultParent, freeName: true, walk },
        inspected: inspections.recall.bind(inspections),
      }),
  });
  const list = new LiveTopic({
    take: () =>
      catalog.all().map((summary) => {
        const fraction = open.session(summary.folder)?.progress().fraction ?? summary.fraction;
        return {
          ...control.placed(summary),
          fraction: fraction === null ? null : Math.floor(fraction * FRACTION_STEPS) / FRACTION_STEPS,
        };
      }),
    intervalMs: LIST_INTERVAL_MS,
    polls: () => control.queue.active !== null,
  });
  const watch = new RunWatch(open, catalog, (summary) => control.placed(summary));
  catalog.changes.add(() => {
    list.changed();
  });
  control.changes.add((runId) => {
    watch.changed(runId);
    list.changed();
  });
  let learning: Promise<void> = Promise.resolve();
  control.rests.add((run) => {
    if (!hasEnded(run.state)) return;
    learning = learning
      .then(() => open.read(run.folder, (store) => speeds.learn(store)))
      // The next run provides what could not be learnt now.
      .catch(() => undefined);
  });
  const known = new KnownPaths(engine.paths, catalog, resultsFolder);
  const downloads = new WeightDownloads(pythonEnvironment);
  const checks = new UserChecks(pythonEnvironment, speeds);
  const packing = new OfflinePacking(engine);
  const otherComputers = new LiveTopic<OtherComputer[]>({
    take: () => others.all(),
    intervalMs: OTHERS_INTERVAL_MS,
  });
  const others = new Computers({
    dataDir: engine.paths.usualDataDir,
    root: options.serverPackage ?? engine.paths.root,
    version: engine.appVersion,
    changed: () => otherComputers.changed(),
  });
  catalog.checkAll();

  const close = async (deadlineMs: number): Promise<boolean> => {
    const end = performance.now() + deadlineMs;
    const inTime = (work: Promise<unknown>, most = Number.POSITIVE_INFINITY): Promise<boolean> =>
      endsWithin(Math.min(most, Math.max(0, end - performance.now())), work);
    inspections.stop();
    const answered = calls.close();
    const stopped = Promise.all([
      pythonEnvironment.stop(),
      warmWorkers.close(),
      downloads.stop(),
      checks.stop(),
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
    // Stops what a pending call would begin.
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
    checks,
    packing,
    known,
    exported: new Set(),
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
    onRest: (listener) => control.rests.add(listener),
    close: (deadlineMs = CLOSE_DEADLINE_MS) => (closing ??= close(deadlineMs)),
  };
}

const CHECKED_RUNS = 'checked_runs';

/** Kept across starts of the program. */
async function rememberCheckedRuns(library: LibraryStore): Promise<CheckedRuns> {
  const stored = z.record(z.string(), z.string()).safeParse(await library.setting(CHECKED_RUNS));
  return new CheckedRuns(
    stored.data,
    // If it couldn't be stored, the databases are checked again.
    (stamps) => void library.setSetting(CHECKED_RUNS, stamps).catch(() => undefined),
  );
}

function withLearntBatches(base: EngineBase, library: LibraryStore): EngineBase {
  return {
    ...base,
    learntBatches: {
      recall: (of) => library.learntBatch(of),
      // If a size couldn't be stored, it is determined again.
      remember: (batch) => void library.saveLearntBatch(batch).catch(() => undefined),
    },
  };
}

/** The calls of all windows that have not been answered yet, so that a closing engine can wait for them. */
class CallsUnderWay {
  private readonly underWay = new Set<Promise<unknown>>();
  private closed = false;

  async run<Answer>(work: () => Answer): Promise<Awaited<Answer>> {
    if (this.closed) throw usage('The program is being closed.');
    const answer = Promise.resolve(work());
    this.underWay.add(answer);
    try {
      return await answer;
    } finally {
      this.underWay.delete(answer);
    }
  }

  /** Accepts no more calls; resolves when the pending ones have ended. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.underWay);
  }
}

/** Whether work ends within this time, successfully or not. */
async function endsWithin(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const inTime = new AbortController();
  const late = setTimeout(milliseconds, false, { signal: inTime.signal }).catch(() => false);
  const ended = await Promise.race([Promise.allSettled([work]).then(() => true), late]);
  inTime.abort();
  return ended;
}
