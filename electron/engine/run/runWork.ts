import { asAppError, type AppError } from '../../contract/errors.ts';
import type { WorkerReady } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { RunState } from '../../contract/runState.ts';
import type { ChosenDevice } from '../devices/index.ts';
import type { EngineContext } from '../engineContext.ts';
import type { TablesWritten } from '../results/types.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import type { BatchSizes } from './work/batchSizes.ts';
import { finishRun } from './finish/finishRun.ts';
import type { ProgressTracker } from './progress/progressTracker.ts';
import type { RunRecord } from './runRecord.ts';
import { isActive, type LifecycleEvent } from './runTransitions.ts';
import { WorkSession } from './work/workSession.ts';
import { wrapUpRun } from './finish/wrapUpRun.ts';

/** The work on a run, one stretch after the other: begins it, and brings the run to where its end leads. */
export class RunWork {
  private readonly context: EngineContext;
  private readonly store: RunStore;
  private readonly record: RunRecord;
  private readonly book: ProgressTracker;
  private readonly batches: BatchSizes;
  private current: WorkSession | undefined;
  private workerFacts: WorkerReady | undefined;
  private ending: Promise<void> = Promise.resolve();
  private halting = false;

  constructor(
    context: EngineContext,
    store: RunStore,
    record: RunRecord,
    book: ProgressTracker,
    batches: BatchSizes,
  ) {
    this.context = context;
    this.store = store;
    this.record = record;
    this.book = book;
    this.batches = batches;
  }

  /** The stretch that is going on. */
  get period(): WorkSession | undefined {
    return this.current;
  }

  /** Starts a stretch of work; it ends by itself, or by `end` or `stop`. */
  async begin(devices: readonly ChosenDevice[]): Promise<Result<void>> {
    const period = new WorkSession(
      {
        context: this.context,
        store: this.store,
        notes: this.record.notes,
        run: this.record.run,
        devices,
        batches: this.batches,
      },
      {
        settled: () => {
          this.ending = this.finish();
        },
        drained: () => {
          this.ending = this.end({ type: 'workers_idle' });
        },
        halt: (error) => {
          this.ending = Promise.all([this.ending, this.halt(error)]).then(() => undefined);
        },
        ready: (ready) => {
          this.workerFacts = ready;
        },
      },
    );
    this.current = period;
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

  /** Ends the work and brings the run to where that leads. */
  async end(event: LifecycleEvent, graceMs?: number): Promise<void> {
    await this.stop(graceMs);
    await this.record.advance(event);
    await this.store.checkpoint().catch(() => undefined);
  }

  /** Ends the work, whatever becomes of the run. */
  async stop(graceMs?: number): Promise<void> {
    const period = this.current;
    if (!period) return;
    await period.stop(graceMs);
    this.book.endWork();
    this.current = undefined;
    await this.refresh();
  }

  /** Counts again how far the run is. */
  async refresh(): Promise<void> {
    try {
      await this.book.refresh();
      if (this.current?.prepareFinished && !this.record.run.prepared) {
        await this.record.reload();
        await this.book.refresh();
      }
    } catch {
      // The next refresh, or the call that matters, tells what is wrong.
    }
  }

  /** Resolves once nobody works on the run any more. */
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

  /** Resolves once what a stretch of work led to by itself is done. */
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
      `The run is paused. ${error.title}: ${error.cause}`,
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

  private async finish(): Promise<void> {
    try {
      await this.record.advance({ type: 'parts_settled' });
      const stopping = this.stop();
      const { tables, ...failures } = await finishRun(this.context, this.store, this.record.notes);
      await stopping;
      await this.record.advance({ type: 'tables_written', ...failures });
      await this.wrapUp(tables);
    } catch (reason) {
      await this.halt(asAppError(reason));
    }
  }

  private wrapUp(tables: TablesWritten): Promise<void> {
    return wrapUpRun(this.context, this.store, this.record.notes, {
      tables,
      worker: this.workerFacts,
      keepWork: this.record.request.keepWork,
      keepEmbeddings: this.record.run.plan.embeddings !== null,
    });
  }
}
