import { appError, asAppError, type AppError } from '../../contract/errors.ts';
import type { WorkerReady } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import {
  runRequestSchema,
  type DeviceLive,
  type RunProgress,
  type RunRequest,
} from '../../contract/rpc/runs.ts';
import type { RunState } from '../../contract/runState.ts';
import { precisionRemark, type ChosenDevice } from '../devices/index.ts';
import type { EngineContext } from '../engineContext.ts';
import { acquireRunLock, type RunLock } from '../store/runLock.ts';
import { openRunStore } from '../store/runStore.ts';
import type { StoredRun } from '../store/types.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { BatchSizes } from './batchSizes.ts';
import { checkReadiness } from './checkReadiness.ts';
import { finishRun, recordRun } from './finishRun.ts';
import { ProgressBook } from './progressBook.ts';
import { isRunFolder, removeWork } from './runFolder.ts';
import type { RunNotes } from './runNotes.ts';
import { RunRecord, type RunListener } from './runRecord.ts';
import { storedDevice } from './storedDevice.ts';
import { isActive, type RunHappening } from './runTransitions.ts';
import { WorkingPeriod } from './workingPeriod.ts';

/** Time for a worker to leave its batch when the user wants it gone at once. */
const STOP_NOW_GRACE_MS = 500;

/** One open run: its state, its stretches of work, and everything that can be asked of it. */
export class RunSession {
  readonly folder: string;
  readonly store: RunStore;
  private readonly context: EngineContext;
  private readonly lock: RunLock;
  private readonly book: ProgressBook;
  private readonly batches: BatchSizes;
  private readonly record: RunRecord;
  private period: WorkingPeriod | undefined;
  private devices: readonly ChosenDevice[] = [];
  private workerFacts: WorkerReady | undefined;
  private ending: Promise<void> = Promise.resolve();

  private constructor(
    context: EngineContext,
    folder: string,
    store: RunStore,
    lock: RunLock,
    record: RunRecord,
    book: ProgressBook,
  ) {
    this.context = context;
    this.folder = folder;
    this.store = store;
    this.lock = lock;
    this.record = record;
    this.book = book;
    this.batches = new BatchSizes(context.learntBatches, record.run.plan);
  }

  static async open(context: EngineContext, folder: string): Promise<Result<RunSession>> {
    if (!isRunFolder(folder)) {
      return err(appError('folder_not_a_run', `${folder} holds no run.db, so there is nothing to resume.`));
    }
    let lock: RunLock | undefined;
    try {
      lock = await acquireRunLock(folder);
      const store = await openRunStore(folder, { hostEntry: context.storeHost });
      const run = await store.loadRun();
      const book = await ProgressBook.open(store, run);
      return ok(new RunSession(context, folder, store, lock, new RunRecord(store, run), book));
    } catch (reason) {
      lock?.release();
      return err(asAppError(reason));
    }
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

  /** Cut off by a crash: the database says that it is being worked on, but nobody does. */
  get interrupted(): boolean {
    return isActive(this.record.run.state) && this.period === undefined;
  }

  get request(): RunRequest {
    return runRequestSchema.parse(this.record.run.description.options['request']);
  }

  subscribe(listener: RunListener): () => void {
    return this.record.subscribe(listener);
  }

  progress(now = Date.now()): RunProgress {
    return this.book.progress(this.record.run, this.period, now);
  }

  deviceStates(now = Date.now()): DeviceLive[] {
    return this.period?.inference.devices().map((device) => device.live(now)) ?? [];
  }

  /** Starts the run, or goes on with it where it was, whatever had become of it. */
  async start(devicesWanted?: string): Promise<Result<void>> {
    if (this.period) return err(appError('usage', 'The run is at work already.'));
    const ready = await checkReadiness(
      this.context,
      this.folder,
      this.record.run,
      devicesWanted ?? this.request.devices,
    );
    if (!ready.ok) return ready;
    const { devices, leftOut } = ready.value;
    this.devices = devices;
    if (leftOut !== null) this.notes.add('warning', 'gpu_left_out', leftOut);
    if (this.request.precision === 'auto') {
      const remark = precisionRemark(this.record.run.plan.precision, devices);
      if (remark !== null) this.notes.add('info', 'precision_of_weakest', remark);
    }
    await this.batches.recall(devices);
    await this.record.saveDevices(devices.map((device) => storedDevice(device)));
    if (this.state.phase !== 'created' && this.state.phase !== 'paused') {
      if (this.interrupted)
        this.notes.add('warning', 'run_interrupted', 'The run was interrupted and goes on where it was.');
      await this.record.advance({ type: 'reopen' });
    }
    await this.record.advance({ type: 'start' });
    return this.work();
  }

  /** Ends the batch under way on every device and frees it. */
  async pause(): Promise<Result<void>> {
    const paused = await this.record.advance({ type: 'pause' });
    if (paused.ok) await this.endPeriod({ type: 'workers_idle' });
    return paused;
  }

  /** Lets the parts in work be finished, then pauses. */
  async drain(): Promise<Result<void>> {
    const draining = await this.record.advance({ type: 'drain' });
    if (draining.ok) this.period?.inference.drain();
    return draining;
  }

  /** Ends the workers at once; parts in work are computed again on resume. */
  async stopNow(): Promise<Result<void>> {
    const paused = await this.record.advance({ type: 'pause' });
    if (paused.ok) await this.endPeriod({ type: 'workers_idle' }, STOP_NOW_GRACE_MS);
    return paused;
  }

  async cancel(): Promise<Result<void>> {
    await this.stopPeriod(STOP_NOW_GRACE_MS);
    return this.record.advance({ type: 'cancel' });
  }

  /** Makes failed parts wait again: they are computed with the rest where the run is at work, else on the next start. */
  async retry(keys: string[] | 'all'): Promise<Result<void>> {
    const running = this.period;
    const retried = await this.store.retryFailed(keys);
    if (retried.length === 0) return err(appError('usage', 'There are no failed parts to retry.'));
    this.book.allowStepBack();
    this.notes.add('info', 'parts_retried', `${retried.length} failed parts are computed again.`);
    for (const key of retried) {
      const shard = await this.store.shard(key);
      if (shard) running?.inference.offer(shard);
    }
    await this.refresh();
    return ok(undefined);
  }

  /** Gives up on parts that wait or have failed: their sequences are listed as failed. */
  async skip(keys: string[]): Promise<Result<void>> {
    const skipped = await this.store.skipShards(keys);
    if (skipped.length === 0) return err(appError('usage', 'These parts neither wait nor have failed.'));
    this.notes.add('info', 'parts_skipped', `${skipped.length} parts were skipped.`);
    for (const key of skipped) this.period?.inference.withdraw(key);
    await this.refresh();
    return ok(undefined);
  }

  /** From the next start on, batches are half as large as they were. */
  useSmallerBatches(): void {
    this.batches.halve();
  }

  rename(name: string): Promise<void> {
    return this.record.rename(name);
  }

  async setDeviceIncluded(id: string, included: boolean): Promise<Result<void>> {
    const device = this.devices.find((known) => known.id === id);
    if (!device || !this.period)
      return err(appError('device_unknown', `The run does not use a device ${id}.`));
    if (included) this.period.inference.include(device);
    else await this.period.inference.exclude(device);
    return ok(undefined);
  }

  /** Resolves once nobody works on the run any more. */
  async whenIdle(): Promise<RunState> {
    if (this.period || isActive(this.state)) {
      await new Promise<void>((resolve) => {
        const unsubscribe = this.subscribe((change) => {
          if (change.type !== 'state' || isActive(change.state)) return;
          unsubscribe();
          resolve();
        });
      });
    }
    await this.ending;
    return this.state;
  }

  async close(): Promise<void> {
    if (this.period) await this.pause();
    await this.ending;
    await this.notes.log.written();
    await this.store.close();
    this.lock.release();
  }

  private async work(): Promise<Result<void>> {
    const period = new WorkingPeriod(
      {
        context: this.context,
        store: this.store,
        notes: this.notes,
        run: this.record.run,
        devices: this.devices,
        batches: this.batches,
      },
      {
        settled: () => {
          this.ending = this.finish();
        },
        drained: () => {
          this.ending = this.endPeriod({ type: 'workers_idle' });
        },
        halt: (error) => {
          this.ending = this.halt(error);
        },
        ready: (ready) => {
          this.workerFacts = ready;
        },
      },
    );
    this.period = period;
    this.book.beginWork(() => void this.refresh());
    try {
      await period.start();
      return ok(undefined);
    } catch (reason) {
      const error = asAppError(reason);
      await this.halt(error);
      return err(error);
    }
  }

  private async finish(): Promise<void> {
    try {
      await this.record.advance({ type: 'shards_settled' });
      const stopping = this.stopPeriod();
      const outcome = await finishRun(this.context, this.store, this.notes);
      const tables = outcome.tables;
      await stopping;
      await this.record.advance({
        type: 'tables_written',
        failedShards: outcome.failedShards,
        failedRecords: outcome.failedRecords,
      });
      await recordRun(this.context, this.store, tables, this.workerFacts);
      if (!this.request.keepWork) await removeWork(this.folder, this.record.run.plan.embeddings !== null);
      await this.store.checkpoint();
    } catch (reason) {
      await this.halt(asAppError(reason));
    }
  }

  private async halt(error: AppError): Promise<void> {
    if (!isActive(this.state)) return;
    this.notes.add('error', error.code, `The run is paused. ${error.title}: ${error.cause}`, error.detail);
    await this.endPeriod({ type: 'halt', error });
  }

  private async endPeriod(happening: RunHappening, graceMs?: number): Promise<void> {
    await this.stopPeriod(graceMs);
    await this.record.advance(happening);
    await this.store.checkpoint().catch(() => undefined);
  }

  private async stopPeriod(graceMs?: number): Promise<void> {
    const { period } = this;
    if (!period) return;
    await period.stop(graceMs);
    this.book.endWork();
    this.period = undefined;
    await this.refresh();
  }

  private async refresh(): Promise<void> {
    try {
      await this.book.refresh();
      if (this.period?.prepareFinished && !this.record.run.prepared) {
        await this.record.reload();
        await this.book.refresh();
      }
    } catch {
      // The next refresh, or the call that matters, tells what is wrong.
    }
  }
}
