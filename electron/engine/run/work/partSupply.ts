import { join } from 'node:path';
import { asAppError, type AppError } from '../../../contract/errors.ts';
import type { PreparedPart, PrepareProgress } from '../../../contract/protocol/index.ts';
import type { EngineContext } from '../../engineContext.ts';
import type { Registered, StoredRun, StoredPart } from '../../store/types.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { backendLaunch, NO_GPU } from './backendLaunch.ts';
import { PrepareStage } from './prepareStage.ts';
import type { RunNotes } from '../runNotes.ts';

export interface PartSupplyHandlers {
  /** A part may be computed. */
  offer: (part: StoredPart) => void;
  /** A part that waits is not to be computed: another reading of the input replaces it. */
  withdraw: (key: string) => void;
  /** Whether every part there will be has been offered. */
  allOffered: (allOffered: boolean) => void;
  failed: (error: AppError) => void;
}

/**
 * Where the parts of a run come from: those that an earlier stretch of work left, those that prepare writes, and those
 * that prepare must write again because their files are lost or damaged.
 */
export class PartSupply {
  private readonly context: EngineContext;
  private readonly store: RunStore;
  private readonly notes: RunNotes;
  private readonly run: StoredRun;
  private readonly handlers: PartSupplyHandlers;
  private prepare: PrepareStage | undefined;
  private progress: PrepareProgress | null = null;
  private preparedOnce: boolean;
  private readyToOffer: readonly StoredPart[] = [];
  /** Parts whose files must be written again before they can be computed. */
  private readonly awaited = new Set<string>();
  private stopped = false;

  constructor(
    context: EngineContext,
    store: RunStore,
    notes: RunNotes,
    run: StoredRun,
    handlers: PartSupplyHandlers,
  ) {
    this.context = context;
    this.store = store;
    this.notes = notes;
    this.run = run;
    this.handlers = handlers;
    this.preparedOnce = run.prepared !== null;
  }

  get prepareProgress(): PrepareProgress | null {
    return this.progress;
  }

  get prepareFinished(): boolean {
    return this.preparedOnce && this.prepare === undefined;
  }

  /** Looks through what is there; answers whether there is anything to compute. */
  async check(): Promise<boolean> {
    const damaged = new Set(await this.store.verifyPendingParts());
    const pending = await this.store.pendingParts();
    if (damaged.size > 0) {
      await this.store.invalidatePrepare();
      this.preparedOnce = false;
      for (const key of damaged) this.awaited.add(preparedKey(key));
    }
    this.readyToOffer = pending.filter(({ key }) => !damaged.has(key));
    return pending.length > 0 || !this.preparedOnce;
  }

  start(): void {
    for (const part of this.readyToOffer) this.handlers.offer(part);
    this.readyToOffer = [];
    if (this.preparedOnce) this.handlers.allOffered(true);
    else this.startPrepare();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.prepare?.stop();
  }

  /** The part's file is lost or damaged: prepare must write it again. */
  prepareAgainFor(key: string): void {
    if (this.stopped) return;
    this.awaited.add(preparedKey(key));
    this.handlers.allOffered(false);
    if (this.prepare) return;
    this.preparedOnce = false;
    this.store.invalidatePrepare().then(
      () => {
        this.startPrepare();
      },
      (reason: unknown) => {
        this.handlers.failed(asAppError(reason));
      },
    );
  }

  private startPrepare(): void {
    if (this.stopped) return;
    const { store } = this;
    const { plan } = this.run;
    this.prepare = new PrepareStage(
      backendLaunch(this.context, 'prepare', [], NO_GPU),
      join(store.folder, 'logs', 'prepare.log'),
      {
        type: 'prepare',
        inputs: plan.inputs.map(({ path, sha256 }, input) => ({ input, path, sha256 })),
        work_dir: join(store.folder, 'work'),
        chunk_length: plan.chunkLength,
        residues_per_part: plan.residuesPerPart,
        tail_parts: plan.tailParts,
      },
      store,
      this.notes,
      {
        progress: (progress) => {
          this.progress = progress;
        },
        part: (part, registered) => this.onPart(part, registered),
        finished: () => {
          this.onPrepared();
        },
        failed: this.handlers.failed,
      },
    );
  }

  private async onPart({ key }: PreparedPart, registered: Registered): Promise<void> {
    if (registered === 'replaced') this.handlers.withdraw(key);
    if (registered === 'known' && !this.awaited.has(key)) return;
    this.awaited.delete(key);
    const stored = await this.store.part(key);
    if (stored?.state === 'pending') this.handlers.offer(stored);
    if (stored?.state === 'split') await this.offerPendingHalves(key);
  }

  /** A part that was cut in two shares its file with its halves. */
  private async offerPendingHalves(key: string): Promise<void> {
    for (const part of await this.store.pendingParts()) {
      if (part.key !== key && preparedKey(part.key) === key) this.handlers.offer(part);
    }
  }

  private onPrepared(): void {
    this.prepare = undefined;
    if (this.stopped) return;
    if (this.awaited.size > 0) {
      this.startPrepare();
      return;
    }
    this.preparedOnce = true;
    this.handlers.allOffered(true);
  }
}

/** The part as prepare wrote it, of which this one may be a half. */
function preparedKey(key: string): string {
  return key.replace(/\..*$/, '');
}
