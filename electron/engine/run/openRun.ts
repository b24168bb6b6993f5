import { appError, asAppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { allowRefusal, err, ok, type Result } from '../../contract/result.ts';
import {
  THIS_COMPUTER,
  type Annotation,
  type ClusterLive,
  type DeviceLive,
  type RunProgress,
  type RunRequest,
  type Where,
} from '../../contract/rpc/runs.ts';
import { isActive, type RunState } from '../../contract/runState.ts';
import { syncedFolder } from '../files/syncedFolder.ts';
import { precisionRemark } from '../devices/choosePrecision.ts';
import type { EngineContext } from '../engineContext.ts';
import type { FileLock } from '../processes/fileLock.ts';
import { acquireRunLock } from '../store/runLock.ts';
import type { TablesWritten } from '../results/types.ts';
import { openRunStore } from '../store/runStore.ts';
import type { StoredRun } from '../store/types.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { BatchSizes } from './work/batchSizes.ts';
import { checkReadiness } from './begin/checkReadiness.ts';
import type { DeviceChoice } from './begin/chooseDevices.ts';
import { isJustCreated, type CreatedRun } from './begin/createRun.ts';
import { ProgressTracker, type RunPace } from './progress/progressTracker.ts';
import { isRunFolder } from '../store/runFolder.ts';
import { isMadeHere } from './madeHere.ts';
import { inputLeftOut, type RunNotes } from './runNotes.ts';
import { RunRecord, type RunListener } from './runRecord.ts';
import { storedDevice } from './begin/storedDevice.ts';
import { nodeOf } from './shares/nodeOf.ts';
import { localDevice } from './work/workDevice.ts';
import { RunWork } from './runWork.ts';
import { areResultsWhole, isWrappedUp, missingResults } from './finish/wrapUpRun.ts';

/** Time for a worker to leave its batch when the user wants it gone at once. */
const STOP_NOW_GRACE_MS = 500;

/** The run is read, or finished: what it computes on does not matter. */
const NOWHERE_YET: Where = { kind: 'shares', on_processors: false };

const PARTS_LEFT_OUT_AT_ONCE = 64;

export interface StartOptions {
  /** Other devices than those that the run was made for, of this computer. */
  devices?: string | undefined;
  /** Elsewhere than the run was made for. */
  where?: Where | undefined;
  /** How long no task of a cluster may run before the run is paused; without it, as long as the scheduler likes. */
  maxWaitMs?: number | undefined;
  /** Reads the inputs and pauses then: the parts are computed by shares. */
  preparesOnly?: boolean | undefined;
  /** For a run that this program has just made: the devices that were chosen and checked then. */
  created?: Pick<CreatedRun, 'choice' | 'createdAt'> | undefined;
}

/** One open run: its state, its sessions of work, and everything that can be asked of it. */
export class OpenRun {
  readonly folder: string;
  readonly store: RunStore;
  private readonly context: EngineContext;
  private readonly lock: FileLock;
  private readonly tracker: ProgressTracker;
  private readonly batches: BatchSizes;
  private readonly record: RunRecord;
  private readonly work: RunWork;
  private starting: { givingUp: AbortController; over: Promise<unknown> } | undefined;

  private constructor(
    context: EngineContext,
    folder: string,
    store: RunStore,
    lock: FileLock,
    record: RunRecord,
    tracker: ProgressTracker,
  ) {
    this.context = context;
    this.folder = folder;
    this.store = store;
    this.lock = lock;
    this.record = record;
    this.tracker = tracker;
    this.batches = new BatchSizes(context.learntBatches, record.run.plan);
    this.work = new RunWork(context, store, record, tracker, this.batches);
  }

  static async open(context: EngineContext, folder: string): Promise<Result<OpenRun>> {
    if (!isRunFolder(folder)) {
      return err(appError('folder_not_a_run', `${folder} holds no run.db, so there is nothing to resume.`));
    }
    let lock: FileLock | undefined;
    let store: RunStore | undefined;
    let session: OpenRun | undefined;
    try {
      lock = await acquireRunLock(folder, () => void session?.lockLost());
      const { storeHost: hostEntry, closing, checkedRuns } = context;
      store = await openRunStore(folder, { hostEntry, closing, checkedRuns });
      const run = await store.loadRun();
      const tracker = await ProgressTracker.open(store, run);
      session = new OpenRun(context, folder, store, lock, new RunRecord(store, run), tracker);
      return ok(session);
    } catch (reason) {
      await store?.close().catch(() => undefined);
      lock?.release();
      return err(asAppError(reason));
    }
  }

  /** What it was asked for when it was made. */
  get request(): RunRequest {
    return this.record.request;
  }

  get stored(): StoredRun {
    return this.record.run;
  }

  get notes(): RunNotes {
    return this.record.notes;
  }

  get state(): RunState {
    return this.record.run.state;
  }

  /** Cut off by a crash: its database says that it is being computed, but no process is doing so. */
  get interrupted(): boolean {
    return isActive(this.state) && this.work.session === undefined;
  }

  subscribe(listener: RunListener): () => void {
    return this.record.subscribe(listener);
  }

  progress(now = Date.now()): RunProgress {
    return this.tracker.progress(this.record.run, this.work.session, now);
  }

  pace(): RunPace | null {
    return this.tracker.pace();
  }

  deviceStates(now = Date.now()): DeviceLive[] {
    const { session } = this.work;
    return session?.onCluster?.devices() ?? session?.devices().map((device) => device.live(now)) ?? [];
  }

  /** State of the cluster that the run computes on; null on this computer, and while the run is not being computed. */
  clusterState(): ClusterLive | null {
    return this.work.session?.onCluster?.live() ?? null;
  }

  /** The result files as they were written, if they were since the run was opened. */
  get written(): TablesWritten | undefined {
    return this.work.written;
  }

  /** It is being looked at whether the run can start, and its work has not begun. */
  get isStarting(): boolean {
    return this.starting !== undefined;
  }

  /** Starts the run, or resumes it from whatever state it is in. One that is paused, stopped or cancelled before its work has begun
   * does not begin. */
  async start(options: StartOptions = {}): Promise<Result<void>> {
    if (this.work.session || this.starting) return err(appError('usage', message('run.at_work')));
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
    const ready = await this.checkReadiness(options, givenUp).catch((reason: unknown) =>
      err(asAppError(reason)),
    );
    if (ready.ok && !givenUp.aborted) await this.announce(ready.value);
    if (givenUp.aborted) return this.interrupted ? this.record.advance({ type: 'reopen' }) : ok(undefined);
    if (!ready.ok) {
      // Else it would say for ever that it was interrupted, and not why it can't go on.
      if (this.interrupted) allowRefusal(await this.record.advance({ type: 'halt', error: ready.error }));
      return ready;
    }
    if (this.interrupted) this.notes.add('warning', 'run_interrupted', message('note.interrupted'));
    const started = await this.record.advance({ type: 'start' });
    return started.ok ? this.work.begin(ready.value, options) : started;
  }

  private async checkReadiness(
    { devices: wanted, where, created, preparesOnly }: StartOptions,
    signal: AbortSignal,
  ): Promise<Result<DeviceChoice>> {
    const { request, run } = this.record;
    const isOwn = created !== undefined || isMadeHere(this.context.paths, this.folder, run.description);
    // What was made to be computed by shares is computed here where it is resumed.
    const usual = request.where.kind === 'shares' ? THIS_COMPUTER : request.where;
    const place: Where = preparesOnly ? NOWHERE_YET : isOwn ? usual : THIS_COMPUTER;
    if (where === undefined && wanted === undefined && !preparesOnly && place.kind !== usual.kind)
      this.notes.add('warning', 'place_not_followed', message('note.place_not_followed'));
    const ready = await checkReadiness(
      this.context,
      this.folder,
      run,
      // Naming devices of this computer means computing here.
      {
        where: where ?? (wanted === undefined ? place : THIS_COMPUTER),
        devices: wanted ?? request.devices,
      },
      created && isJustCreated(created) ? created.choice : undefined,
      { signal },
    );
    if (ready.ok) await this.repair();
    return ready;
  }

  /** Of a run whose tables were refused, or are there and are to be computed in part again; elsewhere damage is found before tables appear. */
  private async repair(): Promise<void> {
    await this.store.refuseDamagedPlan();
    const { state } = this;
    // A share was repaired when it was opened, from the list of its run.
    if (nodeOf(this.stored) !== null) return;
    if (state.phase !== 'done' && !(state.phase === 'paused' && state.error?.code === 'run_damaged')) return;
    const found = await this.store.repairDamage();
    if (found.length === 0) return;
    this.notes.add('warning', 'rows_damaged', message('note.rows_damaged', { what: found.join(' ') }));
    await this.record.reload();
  }

  /** What is to be said of the devices that will compute. */
  private async announce({ devices, leftOut }: DeviceChoice): Promise<void> {
    const { request, run } = this.record;
    for (const remark of leftOut) this.notes.add('warning', 'gpu_left_out', remark);
    if (request.precision === 'auto') {
      const remark = precisionRemark(this.record.run.plan.precision, devices);
      if (remark !== null) this.notes.add('info', 'precision_of_weakest', remark);
    }
    const synced = syncedFolder(this.folder);
    if (synced !== null) this.notes.add('warning', 'folder_synced', synced);
    if (this.state.phase === 'created')
      for (const { path, code, message: text } of run.leftOut)
        this.notes.add('warning', code, inputLeftOut(path, code, text));
    await this.batches.recall(devices);
    await this.record.saveDevices(devices.map((device) => storedDevice(localDevice(device, nodeOf(run)))));
  }

  /** Ends the batch under way on every device and frees it. */
  pause(): Promise<Result<void>> {
    return this.rest();
  }

  /** Finishes the current parts, then pauses. */
  async drain(): Promise<Result<void>> {
    const draining = await this.record.advance({ type: 'drain' });
    if (draining.ok) this.work.session?.request({ type: 'drain' });
    return draining;
  }

  /** Ends the workers at once; their current parts are computed again on resume. */
  stopNow(): Promise<Result<void>> {
    return this.rest(STOP_NOW_GRACE_MS);
  }

  async cancel(): Promise<Result<void>> {
    await this.giveUpStarting();
    await this.work.stop(STOP_NOW_GRACE_MS);
    return this.record.advance({ type: 'cancel' });
  }

  /** Makes failed parts wait again: they are computed with the rest where the run is at work, else on the next start.
   * With smaller batches, those of all parts are half as large from then on. */
  async retry(keys: string[] | 'all', smallerBatches = false): Promise<Result<void>> {
    const retried = await this.store.retryFailed(keys);
    if (retried.length === 0) return err(appError('usage', message('run.nothing_failed')));
    this.tracker.allowStepBack();
    this.notes.add('info', 'parts_retried', message('note.retried', { parts: retried.length }));
    if (smallerBatches) this.useSmallerBatches();
    const parts = await Promise.all(retried.map((key) => this.store.part(key)));
    this.work.session?.request({ type: 'parts_offered', parts: parts.filter((part) => part !== null) });
    await this.work.refresh();
    return ok(undefined);
  }

  /** Whether a finished run has all its result files and no work files left. */
  get isWrappedUp(): boolean {
    return isWrappedUp(this.folder, this.record.request.keepWork);
  }

  /** Names of the result files that are not there. */
  get missingResults(): string[] {
    return missingResults(this.folder);
  }

  /** What a run that is done lacks: scores to compute again, result files to write again, or nothing. */
  async findLack(): Promise<'scores' | 'result_files' | null> {
    await this.store.refuseDamagedPlan();
    if ((await this.store.findDamage()).found.length > 0) return 'scores';
    return this.isWrappedUp && (await areResultsWhole(this.store)) ? null : 'result_files';
  }

  /** Writes the result files of a run that is done again: the tables from run.db, the sequences from the inputs. */
  writeResultsAgain(): Promise<Result<void>> {
    return this.work.writeResultsAgain();
  }

  /** Gives up on parts that wait or have failed: their sequences are listed as failed. */
  async skip(keys: string[]): Promise<Result<void>> {
    const skipped = await this.store.skipParts(keys);
    if (skipped.length === 0) return err(appError('usage', 'These parts neither wait nor have failed.'));
    this.notes.add('info', 'parts_skipped', message('note.skipped', { parts: skipped.length }));
    for (const key of skipped) this.work.session?.request({ type: 'part_withdrawn', key });
    await this.work.refresh();
    return ok(undefined);
  }

  /** Skips every waiting part. The run is then done as soon as its current parts are, or immediately on the next start. */
  async finishNow(): Promise<Result<void>> {
    await this.work.refresh();
    if (!this.record.run.prepared) return err(appError('usage', message('run.still_reading')));
    const waiting = (await this.store.pendingParts()).map(({ key }) => key);
    const leftOut: string[] = [];
    // A few at a time, so that parts that are just finished are taken in between.
    for (let begin = 0; begin < waiting.length; begin += PARTS_LEFT_OUT_AT_ONCE)
      leftOut.push(...(await this.store.skipParts(waiting.slice(begin, begin + PARTS_LEFT_OUT_AT_ONCE))));
    const inWork = (await this.store.partsIn('assigned')).length;
    if (leftOut.length === 0 && inWork === 0) return err(appError('usage', message('run.nothing_left_out')));
    if (leftOut.length > 0)
      this.notes.add('warning', 'finished_early', message('note.finished_early', { parts: leftOut.length }));
    for (const key of leftOut) this.work.session?.request({ type: 'part_withdrawn', key });
    await this.work.refresh();
    return ok(undefined);
  }

  /** Batches are half as large as they were: at once where the run is at work, else from the next start on. */
  useSmallerBatches(): void {
    if (this.work.session) this.work.session.request({ type: 'halve_batches' });
    else this.batches.halve();
  }

  rename(name: string): Promise<void> {
    return this.record.rename(name);
  }

  /** None at all goes back to what the names of the files say. */
  setSamples(names: readonly string[]): Promise<void> {
    return this.record.setSamples(names);
  }

  annotate(annotation: Annotation): Promise<void> {
    return this.record.annotate(annotation);
  }

  async setDeviceIncluded(id: string, included: boolean): Promise<Result<void>> {
    const { session } = this.work;
    if (!session?.uses(id)) return err(appError('device_unknown', `The run does not use a device ${id}.`));
    if (included) session.request({ type: 'include_device', device: id });
    else await session.exclude(id);
    return ok(undefined);
  }

  /** Resolves once the run is no longer being computed. */
  whenIdle(): Promise<RunState> {
    return this.work.whenIdle();
  }

  async close(): Promise<void> {
    // Pausing is refused while results are being written; wait for that instead.
    if (this.work.session) allowRefusal(await this.rest());
    await this.work.ended();
    await this.notes.log.written();
    try {
      await this.store.close();
    } finally {
      this.lock.release();
    }
  }

  /** The folder was moved, or another program took the run while this computer slept: two must not write into one run. */
  private async lockLost(): Promise<void> {
    await this.work.halt(
      isRunFolder(this.folder)
        ? appError('run_locked', `Another program has taken over the run in ${this.folder}.`)
        : appError('folder_gone', `The run is not in ${this.folder} any more.`),
    );
  }

  private async giveUpStarting(): Promise<void> {
    this.starting?.givingUp.abort();
    if (!this.work.session) await this.starting?.over;
  }

  private async rest(graceMs?: number): Promise<Result<void>> {
    await this.giveUpStarting();
    if (!this.work.session && !isActive(this.state)) return ok(undefined);
    const paused = await this.record.advance({ type: 'pause' });
    // One that is being paused already can still be hurried.
    if (!paused.ok && this.state.phase !== 'pausing') return paused;
    await this.work.end({ type: 'workers_idle' }, graceMs);
    return ok(undefined);
  }
}
