import { setTimeout as sleep } from 'node:timers/promises';
import {
  appError,
  asAppError,
  causeOf,
  titleOf,
  type AppError,
  allowRefusal,
  err,
  ok,
  unwrap,
  type Result,
  failWith,
} from '../../contract/errors.ts';
import { goalText, type Goal } from '../../contract/goal.ts';
import { message } from '../../contract/messages.ts';
import type { Repair, WorkerReady } from '../../contract/protocol/index.ts';
import {
  THIS_COMPUTER,
  type ClusterLive,
  type DeviceLive,
  type RunProgress,
} from '../../contract/rpc/runs.ts';
import { isActive, type RunState } from '../../contract/runState.ts';
import type { EngineContext } from './engineContext.ts';
import type { FileLock } from '../system/fileLock.ts';
import { acquireRunLock, isRunFolder, removeWork } from '../store/runFolder.ts';
import { NO_DAMAGE } from '../results/damage.ts';
import type { TablesWritten } from '../results/types.ts';
import { openRunStore, type RunStore } from '../store/runStore.ts';
import { filesLeftOut, type StoredRun } from '../store/types.ts';
import { BatchSizes } from './batchSizes.ts';
import { announceStart, checkInputs, readyToStart, type StartOptions } from './begin/checkReadiness.ts';
import { inspectAdded } from './begin/createRun.ts';
import type { DeviceChoice } from './begin/chooseDevices.ts';
import { ProgressTracker } from './progress/progressTracker.ts';
import { isMadeHere } from './madeHere.ts';
import { goalOf, goalRefusal, isReached, removeProvisionalTable, writeProvisionalTable } from './goal.ts';
import { RunRecord, type LifecycleEvent, type RunListener } from './runRecord.ts';
import { nodeOf } from '../store/shares.ts';
import { listForShares } from './shares/mergeShares.ts';
import type { WorkOutcome } from './work/decide/workState.ts';
import { WorkSession } from './work/workSession.ts';
import { finishRun } from './finish/finishRun.ts';
import { hasLeftWork, wrapUpRun } from './finish/wrapUpRun.ts';
import { findLack, missingResults } from './wholeRun.ts';

/** Time for a worker to finish its batch when the user wants to stop immediately. */
const STOP_NOW_GRACE_MS = 500;

const PARTS_LEFT_OUT_AT_ONCE = 64;

/**
 * How often to check whether the goal is reached, and the minimum interval as a multiple of the check's
 * duration.
 */
const LOOK_FOR_GOAL_MS = 1_000;
const GOAL_REST = 20;

/** One open run: its state, its work sessions, and all its operations. */
export class OpenRun {
  readonly record: RunRecord;
  readonly folder: string;
  private readonly context: EngineContext;
  private readonly lock: FileLock;
  private readonly tracker: ProgressTracker;
  private readonly batches: BatchSizes;
  private starting: { givingUp: AbortController; over: Promise<unknown> } | undefined;
  private session: WorkSession | undefined;
  /** Ends when no file is being added any more. */
  private settling: Promise<unknown> = Promise.resolve();
  private workerFacts: WorkerReady | undefined;
  /** The steps that follow the end of a session. */
  private ending: Promise<void> = Promise.resolve();
  private halting = false;
  private tables: TablesWritten | undefined;

  private constructor(
    context: EngineContext,
    store: RunStore,
    lock: FileLock,
    stored: StoredRun,
    tracker: ProgressTracker,
    workedMs: number,
  ) {
    this.record = new RunRecord(store, stored, workedMs);
    this.context = context;
    this.folder = store.folder;
    this.lock = lock;
    this.tracker = tracker;
    this.batches = new BatchSizes(context.learntBatches, stored.plan);
  }

  static async open(context: EngineContext, folder: string): Promise<Result<OpenRun>> {
    if (!isRunFolder(folder)) {
      return failWith('folder_not_a_run', `${folder} holds no run.db, so there is nothing to resume.`);
    }
    let lock: FileLock | undefined;
    let store: RunStore | undefined;
    let session: OpenRun | undefined;
    try {
      lock = await acquireRunLock(folder, () => void session?.lockLost());
      const { storeHost: hostEntry, closing, checkedRuns, startModule } = context;
      store = await openRunStore(folder, { hostEntry, closing, checkedRuns, startModule });
      const run = await store.loadRun();
      const tracker = await ProgressTracker.open(store, run);
      const { workingMilliseconds } = await store.timings();
      session = new OpenRun(context, store, lock, run, tracker, workingMilliseconds);
      return ok(session);
    } catch (reason) {
      await store?.close().catch(() => undefined);
      lock?.release();
      return err(asAppError(reason));
    }
  }

  /**
   * Whether a crash cut the run off: its database says that it is being computed, but no process is doing so.
   */
  get interrupted(): boolean {
    return isActive(this.record.state) && this.session === undefined;
  }

  progress(): RunProgress {
    return this.tracker.progress(this.record, this.session, Date.now());
  }

  deviceStates(): DeviceLive[] {
    const { session } = this;
    return session?.onCluster?.devices() ?? session?.devices().map((device) => device.live(Date.now())) ?? [];
  }

  /**
   * State of the cluster that the run computes on; null on this computer, and while the run is not being
   * computed.
   */
  clusterState(): ClusterLive | null {
    return this.session?.onCluster?.live() ?? null;
  }

  /** The result files, if they were written since the run was opened. */
  get written(): TablesWritten | undefined {
    return this.tables;
  }

  /** Whether the start is still being checked and no work has begun. */
  get isStarting(): boolean {
    return this.starting !== undefined;
  }

  /**
   * Starts the run, or resumes it from any state. A run that is paused, stopped or cancelled before its work
   * begins does not begin.
   */
  async start(options: StartOptions = {}): Promise<Result<void>> {
    if (this.session || this.starting) return failWith('usage', message('run.at_work'));
    const givingUp = new AbortController();
    const over = this.startUnless(givingUp.signal, options);
    this.starting = { givingUp, over };
    try {
      return await over;
    } finally {
      this.starting = undefined;
    }
  }

  private async startUnless(givenUp: AbortSignal, options: StartOptions): Promise<Result<void>> {
    await this.settling;
    const ready = await readyToStart(this.context, this.record, options, givenUp).catch((reason: unknown) =>
      err(asAppError(reason)),
    );
    if (ready.ok && !givenUp.aborted)
      await announceStart(this.context, this.record, this.batches, ready.value);
    if (givenUp.aborted) return this.interrupted ? this.record.advance({ type: 'reopen' }) : ok(undefined);
    if (!ready.ok) {
      // Otherwise it would stay marked as interrupted, without the reason why it can't continue.
      if (this.interrupted) allowRefusal(await this.record.advance({ type: 'halt', error: ready.error }));
      return ready;
    }
    if (this.interrupted) this.record.notes.add('warning', 'run_interrupted', message('note.interrupted'));
    const goal = await this.takeGoal(options, ready.value);
    if (!goal.ok) return goal;
    const started = await this.record.advance({ type: 'start' });
    return started.ok ? this.beginWork(ready.value, options) : started;
  }

  /** Finishes the current batch on every device and frees the devices. */
  pause(): Promise<Result<void>> {
    return this.rest();
  }

  /** The goal at which the run stops; null if it computes everything. */
  get goal(): Goal | null {
    return goalOf(this.record.stored, this.folder);
  }

  /** For a time goal, the time counts from now. */
  async setGoal(goal: Goal | null): Promise<Result<void>> {
    const where = this.session?.onCluster ? this.record.request.where : THIS_COMPUTER;
    const refusal = goalRefusal(goal, { order: this.record.stored.plan.order, where });
    if (refusal) return err(refusal);
    const from = this.record.elapsedSeconds;
    await this.record.saveGoal(goal?.kind === 'time' ? { ...goal, from } : goal);
    return ok(undefined);
  }

  private async takeGoal({ until }: StartOptions, { cluster }: DeviceChoice): Promise<Result<void>> {
    // Waits until everything from the last session is stored.
    await this.ending;
    removeProvisionalTable(this.folder);
    if (until && cluster) return failWith('usage', message('goal.only_here'));
    if (until !== undefined) return this.setGoal(until);
    if (cluster && this.goal)
      this.record.notes.add('warning', 'goal_not_followed', message('goal.only_here'));
    if (this.record.state.phase === 'paused' && this.record.state.enough) await this.record.saveGoal(null);
    return ok(undefined);
  }

  /** Checks from time to time whether enough is computed, while this session lasts. */
  private async watchGoal(session: WorkSession): Promise<void> {
    while (this.session === session && this.record.state.phase === 'running') {
      const { goal } = this;
      const begun = performance.now();
      // If the state can't be read now, the next check tries again.
      if (goal && (await isReached(goal, this.record.store, this.record.elapsedSeconds).catch(() => false))) {
        const enough = await this.record.advance({ type: 'enough', goal });
        if (!enough.ok) return;
        this.record.notes.add('info', 'enough', message('note.enough', { goal: goalText(goal) }));
        session.request({ type: 'drain' });
        return;
      }
      const rest = Math.max(LOOK_FOR_GOAL_MS, GOAL_REST * (performance.now() - begun));
      await sleep(rest, undefined, { ref: false });
    }
  }

  /** Finishes the current parts, then pauses. */
  drain(): Promise<Result<void>> {
    return this.ends(async () => {
      await this.giveUpStarting();
      const { session } = this;
      if (!session) return this.rest();
      const draining = await this.record.advance({ type: 'drain' });
      if (draining.ok) session.request({ type: 'drain' });
      return draining;
    });
  }

  /** Ends the workers at once; their current parts are computed again on resume. */
  stopNow(): Promise<Result<void>> {
    return this.rest(STOP_NOW_GRACE_MS);
  }

  cancel(): Promise<Result<void>> {
    return this.ends(async () => {
      await this.giveUpStarting();
      return this.endWork({ type: 'cancel' }, STOP_NOW_GRACE_MS);
    });
  }

  /**
   * Puts failed parts back into the queue: they are computed with the rest if the run is computing, else at
   * the next start.
   */
  async retry(keys: string[] | 'all'): Promise<Result<void>> {
    const retried = await this.record.store.retryFailed(keys);
    if (retried.length === 0) return failWith('usage', message('run.nothing_failed'));
    this.tracker.allowStepBack();
    this.record.notes.add('info', 'parts_retried', message('note.retried', { parts: retried.length }));
    const parts = await Promise.all(retried.map((key) => this.record.store.part(key)));
    this.session?.request({ type: 'parts_offered', parts: parts.filter((part) => part !== null) });
    await this.refresh();
    return ok(undefined);
  }

  /**
   * Settles a file that the run went on without: with null it stays left out; else the file at the path is taken in
   * its place. That one is read after all others, and only it is computed, when the run is started. A start waits.
   */
  async settleInput(
    file: string,
    path: string | null,
    repairs: readonly Repair[] = [],
  ): Promise<Result<void>> {
    if (this.session || this.starting) return failWith('usage', message('run.pause_first'));
    const settled = this.settling.then(() => this.settleAtRest(file, path, repairs));
    this.settling = settled.catch(() => undefined);
    return settled;
  }

  private async settleAtRest(
    file: string,
    path: string | null,
    repairs: readonly Repair[],
  ): Promise<Result<void>> {
    const { record, context } = this;
    const isLeftOut = filesLeftOut(record.stored).some((one) => one.path === file);
    if (!isLeftOut) return failWith('usage', message('run.has_input', { path: file }));
    if (path === null) {
      await record.settleInput(file, null);
      record.notes.add('info', 'input_accepted', message('note.input_accepted', { path: file }));
      return ok(undefined);
    }
    // All are read again to their end.
    const others = await checkInputs(record.stored);
    if (!others.ok) return others;
    const added = await inspectAdded(context, record.stored, path, repairs);
    if (!added.ok) return added;
    const reopened = await record.advance({ type: 'reopen' });
    if (!reopened.ok) return reopened;
    await record.settleInput(file, added.value);
    this.tracker.allowStepBack();
    record.notes.add('info', 'input_added', message('note.input_added', { path, instead: file }));
    return ok(undefined);
  }

  /** Names of the result files that are missing. */
  get missingResults(): string[] {
    return missingResults(this.folder, this.record.stored.plan.model, this.record.request);
  }

  /** What a finished run lacks: scores to recompute, result files to rewrite, or nothing. */
  async findLack(): Promise<'scores' | 'result_files' | null> {
    const lack = await findLack(this.record.store);
    if (lack !== null) return lack.what;
    return hasLeftWork(this.folder, this.record.request.keepWork) ? 'result_files' : null;
  }

  /** Gives up parts that wait or have failed: their sequences are listed as failed. */
  async skip(keys: string[]): Promise<Result<void>> {
    const skipped = await this.record.store.skipParts(keys);
    if (skipped.length === 0) return failWith('usage', 'These parts neither wait nor have failed.');
    this.record.notes.add('info', 'parts_skipped', message('note.skipped', { parts: skipped.length }));
    for (const key of skipped) this.session?.request({ type: 'part_withdrawn', key });
    await this.refresh();
    return ok(undefined);
  }

  /** Skips every waiting part. The run is then done as soon as its current parts are, or immediately on the next start. */
  async finishNow(): Promise<Result<void>> {
    await this.refresh();
    if (!this.record.stored.prepared) return failWith('usage', message('run.still_reading'));
    const waiting = (await this.record.store.pendingParts()).map(({ key }) => key);
    const leftOut: string[] = [];
    // A few at a time, so that parts that have just finished can be stored in between.
    for (let begin = 0; begin < waiting.length; begin += PARTS_LEFT_OUT_AT_ONCE)
      leftOut.push(
        ...(await this.record.store.skipParts(waiting.slice(begin, begin + PARTS_LEFT_OUT_AT_ONCE))),
      );
    const inWork = (await this.record.store.partsIn('assigned')).length;
    if (leftOut.length === 0 && inWork === 0) return failWith('usage', message('run.nothing_left_out'));
    if (leftOut.length > 0)
      this.record.notes.add(
        'warning',
        'finished_early',
        message('note.finished_early', { parts: leftOut.length }),
      );
    for (const key of leftOut) this.session?.request({ type: 'part_withdrawn', key });
    await this.refresh();
    return ok(undefined);
  }

  async setDeviceIncluded(id: string, included: boolean): Promise<Result<void>> {
    const { session } = this;
    if (!session?.uses(id)) return failWith('device_unknown', `The run does not use a device ${id}.`);
    if (included) session.request({ type: 'include_device', device: id });
    else await session.exclude(id);
    return ok(undefined);
  }

  async close(): Promise<void> {
    // Pausing is refused while results are being written, so this waits for them instead.
    if (this.session || this.starting) allowRefusal(await this.rest());
    await this.ending;
    await this.record.notes.log.written();
    try {
      await this.record.store.close();
    } finally {
      this.lock.release();
    }
  }

  /**
   * The folder was moved, or another program took over the run while this computer slept: two programs must
   * not write to one run.
   */
  private async lockLost(): Promise<void> {
    await this.halt(
      isRunFolder(this.folder)
        ? appError('run_locked', `Another program has taken over the run in ${this.folder}.`)
        : appError('folder_gone', `The run is not in ${this.folder} any more.`),
    );
  }

  private async giveUpStarting(): Promise<void> {
    this.starting?.givingUp.abort();
    if (!this.session) await this.starting?.over;
  }

  private rest(graceMs?: number): Promise<Result<void>> {
    return this.ends(async () => {
      await this.giveUpStarting();
      if (!this.session && !isActive(this.record.state)) return ok(undefined);
      const paused = await this.record.advance({ type: 'pause' });
      // A run that is already pausing can still be hurried.
      if (!paused.ok && this.record.state.phase !== 'pausing') return paused;
      allowRefusal(await this.endWork({ type: 'workers_idle' }, graceMs));
      return ok(undefined);
    });
  }

  /** The next start, and closing, wait for it. */
  private ends<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const ended = work();
    this.ending = Promise.allSettled([this.ending, ended]).then(() => undefined);
    return ended;
  }

  /** Starts a session of work; it ends by itself, or by `endWork` or `stopWork`. */
  private async beginWork(
    { devices, cluster, modelFolder, secondModelFolder }: DeviceChoice,
    { preparesOnly = false }: StartOptions,
  ): Promise<Result<void>> {
    const session = new WorkSession(
      {
        context: this.context,
        store: this.record.store,
        record: this.record,
        devices,
        cluster,
        preparesOnly,
        modelFolder,
        secondModelFolder,
        batches: this.batches,
      },
      (outcome) => {
        void this.ends(() =>
          this.conclude(outcome).catch((reason: unknown) => this.halt(asAppError(reason))),
        );
      },
    );
    this.session = session;
    this.tracker.beginWork(() => void this.refresh());
    try {
      await session.start();
      if (!cluster && !preparesOnly && nodeOf(this.record.stored) === null) void this.watchGoal(session);
      return ok(undefined);
    } catch (reason) {
      const error = asAppError(reason);
      await this.halt(error);
      return err(error);
    }
  }

  /** Ends the work session and applies the resulting state transition. */
  private endWork(event: LifecycleEvent, graceMs?: number): Promise<Result<void>> {
    return this.ends(async () => {
      await this.stopWork(graceMs);
      const advanced = await this.record.advance(event);
      // Refused if the last part was finished meanwhile, so that the run is writing its results.
      if (advanced.ok) await this.record.store.checkpoint().catch(() => undefined);
      return advanced;
    });
  }

  /** Ends the work, whatever the run's next state is. */
  private async stopWork(graceMs?: number): Promise<void> {
    const session = this.session;
    if (!session) return;
    await session.stop(graceMs);
    this.workerFacts = session.workerFacts ?? this.workerFacts;
    this.tracker.endWork();
    this.session = undefined;
    await this.refresh();
  }

  /** Updates the progress counts. */
  private async refresh(): Promise<void> {
    try {
      await this.tracker.refresh();
      if (this.session?.prepareFinished && !this.record.stored.prepared) {
        await this.record.reload();
        await this.tracker.refresh();
      }
    } catch {
      // The next refresh, or the next call that must store, reports the error.
    }
  }

  /** Resolves once the run is no longer being computed. */
  async whenIdle(): Promise<RunState> {
    if (this.session || isActive(this.record.stored.state)) {
      await new Promise<void>((resolve) => {
        const unsubscribe = this.record.subscribe((change) => {
          if (change.type !== 'state' || isActive(change.state)) return;
          unsubscribe();
          resolve();
        });
      });
    }
    await this.ending;
    return this.record.stored.state;
  }

  /** Pauses the run because of an error. */
  private async halt(error: AppError): Promise<void> {
    // On a full disk every write halts the run; the first one's error is kept.
    if (!isActive(this.record.stored.state) || this.halting) return;
    this.halting = true;
    this.record.notes.add(
      'error',
      error.code,
      message('note.halted', { title: titleOf(error), cause: causeOf(error) }),
      error.detail,
    );
    try {
      allowRefusal(await this.endWork({ type: 'halt', error }));
    } finally {
      this.halting = false;
    }
  }

  /**
   * Rewrites the result files of a run that is done again: the tables from run.db, the sequences from the
   * inputs.
   */
  async writeResultsAgain(): Promise<Result<void>> {
    try {
      const { tables } = await finishRun(this.context, this.record.store, this.record.notes);
      await this.wrapUp(tables);
      return ok(undefined);
    } catch (reason) {
      return err(asAppError(reason));
    }
  }

  private async conclude(outcome: WorkOutcome): Promise<void> {
    switch (outcome.type) {
      case 'settled':
        return this.finish();
      case 'prepared':
        await listForShares(this.record.store);
        allowRefusal(await this.record.advance({ type: 'pause' }));
        allowRefusal(await this.endWork({ type: 'workers_idle' }));
        return;
      case 'drained':
        allowRefusal(await this.endWork({ type: 'workers_idle' }));
        return this.showWhatIsEnough();
      case 'halt':
        return this.halt(outcome.error);
    }
  }

  private async showWhatIsEnough(): Promise<void> {
    if (this.record.state.phase !== 'paused' || !this.record.state.enough) return;
    await writeProvisionalTable(this.context, this.record.store).catch((reason: unknown) => {
      const cause = causeOf(asAppError(reason));
      this.record.notes.add(
        'warning',
        'provisional_not_written',
        message('note.provisional_not_written', { cause }),
      );
    });
  }

  private async finish(): Promise<void> {
    const settled = await this.record.advance({ type: 'parts_settled' });
    // Something else ended the work at the same moment.
    if (!settled.ok) return;
    if (nodeOf(this.record.stored) !== null) {
      await this.finishShare();
      return;
    }
    const stopping = this.stopWork();
    const { tables, ...failures } = await finishRun(this.context, this.record.store, this.record.notes);
    await stopping;
    unwrap(await this.record.advance({ type: 'tables_written', ...failures }));
    await this.wrapUp(tables);
  }

  /** A share leaves its results in its database; its run writes the tables. */
  private async finishShare(): Promise<void> {
    await this.stopWork();
    const { failed, skipped } = (await this.record.store.counts()).parts;
    unwrap(await this.record.advance({ type: 'tables_written', failedParts: failed + skipped, failedRecords: 0, failedInputs: 0, damage: NO_DAMAGE })); // prettier-ignore
    removeWork(this.record.store.folder, this.record.stored.plan.embeddings !== null);
    await this.record.store.checkpoint();
  }

  private wrapUp(tables: TablesWritten): Promise<void> {
    this.tables = tables;
    return wrapUpRun(this.context, this.record.store, this.record.notes, {
      tables,
      worker: this.workerFacts,
      keepWork: this.record.request.keepWork,
      keepEmbeddings: this.record.stored.plan.embeddings !== null,
      calibrates:
        this.record.request.calibrates === true &&
        isMadeHere(this.context.paths, this.record.store.folder, this.record.stored.description),
    });
  }
}

interface WorkOptions extends StartOptions {
  /** Called on every change until the run stops. */
  listener: RunListener;
  /** Called when workers have been started, or the run has already stopped. */
  started?: () => void;
}

/**
 * Computes an open run until it stops, for whatever reason; returns its state then, or why it could not be
 * started. Windows and the command line both use this function.
 */
export async function workOnRun(run: OpenRun, options: WorkOptions): Promise<Result<RunState>> {
  const unsubscribe = run.record.subscribe(options.listener);
  try {
    const start = await run.start(options);
    if (!start.ok) return start;
    options.started?.();
    return ok(await run.whenIdle());
  } finally {
    unsubscribe();
  }
}
