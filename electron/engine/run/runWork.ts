import { asAppError, causeOf, titleOf, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { WorkerReady } from '../../contract/protocol/index.ts';
import { allowRefusal, err, ok, unwrap, type Result } from '../../contract/result.ts';
import { isActive, type RunState } from '../../contract/runState.ts';
import type { EngineContext } from '../engineContext.ts';
import type { TablesWritten } from '../results/types.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import type { DeviceChoice } from './begin/chooseDevices.ts';
import type { BatchSizes } from './work/batchSizes.ts';
import { listForShares } from './shares/listForShares.ts';
import { nodeOf } from './shares/nodeOf.ts';
import { removeWork } from '../store/runFolder.ts';
import { finishRun } from './finish/finishRun.ts';
import type { ProgressTracker } from './progress/progressTracker.ts';
import type { RunRecord } from './runRecord.ts';
import type { LifecycleEvent } from './runTransitions.ts';
import type { WorkOutcome } from './work/workEvents.ts';
import { WorkSession } from './work/workSession.ts';
import { wrapUpRun } from './finish/wrapUpRun.ts';

/** Runs one work session at a time and applies the state transition when it ends. */
export class RunWork {
  private readonly context: EngineContext;
  private readonly store: RunStore;
  private readonly record: RunRecord;
  private readonly tracker: ProgressTracker;
  private readonly batches: BatchSizes;
  private current: WorkSession | undefined;
  private workerFacts: WorkerReady | undefined;
  private ending: Promise<void> = Promise.resolve();
  private halting = false;
  private tables: TablesWritten | undefined;

  constructor(
    context: EngineContext,
    store: RunStore,
    record: RunRecord,
    tracker: ProgressTracker,
    batches: BatchSizes,
  ) {
    this.context = context;
    this.store = store;
    this.record = record;
    this.tracker = tracker;
    this.batches = batches;
  }

  /** What is going on now. */
  get session(): WorkSession | undefined {
    return this.current;
  }

  /** The result files as they were written, if they were since the run was opened. */
  get written(): TablesWritten | undefined {
    return this.tables;
  }

  /** Starts a session of work; it ends by itself, or by `end` or `stop`. */
  async begin(
    { devices, cluster, modelFolder }: DeviceChoice,
    {
      maxWaitMs,
      preparesOnly = false,
    }: { maxWaitMs?: number | undefined; preparesOnly?: boolean | undefined },
  ): Promise<Result<void>> {
    const session = new WorkSession(
      {
        context: this.context,
        store: this.store,
        record: this.record,
        devices,
        cluster,
        maxWaitMs,
        preparesOnly,
        modelFolder,
        batches: this.batches,
      },
      (outcome) => {
        this.ending = Promise.all([this.ending, this.conclude(outcome)]).then(() => undefined);
      },
    );
    this.current = session;
    this.tracker.beginWork(() => void this.refresh());
    try {
      await session.start();
      return ok(undefined);
    } catch (reason) {
      const error = asAppError(reason);
      await this.halt(error);
      return err(error);
    }
  }

  /** Ends the work session and applies the resulting state transition. */
  async end(event: LifecycleEvent, graceMs?: number): Promise<void> {
    await this.stop(graceMs);
    const ended = await this.record.advance(event);
    // The last part was settled meanwhile: the run writes its results.
    if (!ended.ok) return;
    await this.store.checkpoint().catch(() => undefined);
  }

  /** Ends the work, whatever becomes of the run. */
  async stop(graceMs?: number): Promise<void> {
    const session = this.current;
    if (!session) return;
    await session.stop(graceMs);
    this.workerFacts = session.workerFacts ?? this.workerFacts;
    this.tracker.endWork();
    this.current = undefined;
    await this.refresh();
  }

  /** Counts again how far the run is. */
  async refresh(): Promise<void> {
    try {
      await this.tracker.refresh();
      if (this.current?.prepareFinished && !this.record.run.prepared) {
        await this.record.reload();
        await this.tracker.refresh();
      }
    } catch {
      // The next refresh, or the next call that must store, reports what is wrong.
    }
  }

  /** Resolves once the run is no longer being computed. */
  async whenIdle(): Promise<RunState> {
    if (this.current || isActive(this.record.run.state)) {
      await new Promise<void>((resolve) => {
        const unsubscribe = this.record.subscribe((change) => {
          if (change.type !== 'state' || isActive(change.state)) return;
          unsubscribe();
          resolve();
        });
      });
    }
    await this.ending;
    return this.record.run.state;
  }

  /** Resolves once everything that the end of a work session set off is done. */
  async ended(): Promise<void> {
    await this.ending;
  }

  /** Pauses the run, because it can't go on as it is. */
  async halt(error: AppError): Promise<void> {
    // On a full disk everything that wants to write halts the run; the first says why.
    if (!isActive(this.record.run.state) || this.halting) return;
    this.halting = true;
    this.record.notes.add(
      'error',
      error.code,
      message('note.halted', { title: titleOf(error), cause: causeOf(error) }),
      error.detail,
    );
    try {
      await this.end({ type: 'halt', error });
    } finally {
      this.halting = false;
    }
  }

  /** For a run that is done and lacks result files. */
  async writeResultsAgain(): Promise<Result<void>> {
    try {
      const { tables } = await finishRun(this.context, this.store, this.record.notes);
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
        await listForShares(this.store);
        allowRefusal(await this.record.advance({ type: 'pause' }));
        return this.end({ type: 'workers_idle' });
      case 'drained':
        return this.end({ type: 'workers_idle' });
      case 'halt':
        return this.halt(outcome.error);
    }
  }

  private async finish(): Promise<void> {
    try {
      const settled = await this.record.advance({ type: 'parts_settled' });
      // Something else has ended the work in the same instant.
      if (!settled.ok) return;
      if (nodeOf(this.record.run) !== null) {
        await this.finishShare();
        return;
      }
      const stopping = this.stop();
      const { tables, ...failures } = await finishRun(this.context, this.store, this.record.notes);
      await stopping;
      unwrap(await this.record.advance({ type: 'tables_written', ...failures }));
      await this.wrapUp(tables);
    } catch (reason) {
      await this.halt(asAppError(reason));
    }
  }

  /** A share leaves what it has computed in its database: its run writes the tables. */
  private async finishShare(): Promise<void> {
    await this.stop();
    const { failed, skipped } = (await this.store.counts()).parts;
    unwrap(await this.record.advance({ type: 'tables_written', failedParts: failed + skipped, failedRecords: 0, failedInputs: 0 })); // prettier-ignore
    removeWork(this.store.folder, this.record.run.plan.embeddings !== null);
    await this.store.checkpoint();
  }

  private wrapUp(tables: TablesWritten): Promise<void> {
    this.tables = tables;
    return wrapUpRun(this.context, this.store, this.record.notes, {
      tables,
      worker: this.workerFacts,
      keepWork: this.record.request.keepWork,
      keepEmbeddings: this.record.run.plan.embeddings !== null,
    });
  }
}
