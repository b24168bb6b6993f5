import { join } from 'node:path';
import { appError, asAppError, type AppError } from '../../contract/errors.ts';
import type {
  ShardCommand,
  ShardDone,
  ShardFailed,
  ShardFailureCode,
} from '../../contract/protocol/index.ts';
import type { AttemptOutcome, StoredShard } from '../store/types.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { decideAfterCasualty } from './casualtyPolicy.ts';
import type { RunNotes } from './runNotes.ts';
import { ShardQueue } from './shardQueue.ts';

export interface ShardLedgerHandlers {
  /** Something may now be assigned, or everything may be settled. */
  changed: () => void;
  /** The run can't go on as it is: disk full, folder gone. */
  halt: (error: AppError) => void;
  /** A shard's file is missing or damaged: prepare must write it again. */
  shardLost: (key: string) => void;
}

/** Failures of the computer rather than of the shard that met them. */
const HALTING: Partial<Record<ShardFailureCode, 'disk_full' | 'folder_unwritable'>> = {
  disk_full: 'disk_full',
  write_failed: 'folder_unwritable',
};

/**
 * Keeps queue and database in step: who has which shard, and what became of it. A shard leaves it only stored, failed,
 * skipped or cut in two.
 */
export class ShardLedger {
  private readonly store: RunStore;
  private readonly notes: RunNotes;
  private readonly handlers: ShardLedgerHandlers;
  private readonly keepEmbeddings: boolean;
  private readonly queue = new ShardQueue();
  private readonly shards = new Map<string, StoredShard>();
  /** The newest attempt's number by shard, or null once it has ended. A new one starts only after the last has ended. */
  private readonly attempts = new Map<string, Promise<number | null>>();
  private work: Promise<void> = Promise.resolve();
  private workOpen = 0;

  constructor(store: RunStore, notes: RunNotes, keepEmbeddings: boolean, handlers: ShardLedgerHandlers) {
    this.store = store;
    this.notes = notes;
    this.keepEmbeddings = keepEmbeddings;
    this.handlers = handlers;
  }

  /** A shard is ready to be computed. */
  offer(shard: StoredShard): void {
    if (this.queue.has(shard.key)) return;
    this.shards.set(shard.key, shard);
    const casualties = shard.bisected || shard.attempts > 0 ? 1 : 0;
    this.queue.add({ key: shard.key, residues: shard.residues, casualties });
  }

  withdraw(key: string): void {
    this.queue.withdraw(key);
  }

  get waiting(): number {
    return this.queue.waitingCount;
  }

  get inWork(): number {
    return this.queue.assignedCount;
  }

  /** Nobody works on anything, and everything that was computed is stored. */
  get idle(): boolean {
    return this.queue.assignedCount === 0 && this.workOpen === 0;
  }

  /** Resolves when everything computed so far is stored. */
  stored(): Promise<void> {
    return this.work;
  }

  /** Hands out the next shard, or nothing when none waits. */
  take(device: string, workerPid: number, log: string): ShardCommand | undefined {
    const queued = this.queue.take(device);
    const shard = queued && this.shards.get(queued.key);
    if (!shard) return undefined;
    const { key } = shard;
    const begin = { shard: key, device, workerPid, startedAt: Date.now(), log };
    const attempt = (this.attempts.get(key) ?? Promise.resolve()).then(() => this.store.startAttempt(begin));
    // A failure to note it shows again, and is told, when the attempt ends.
    attempt.catch(() => undefined);
    this.attempts.set(key, attempt);
    const file = (kind: string): string => join(this.store.folder, 'work', kind, `${key}.safetensors`);
    return {
      type: 'shard',
      shard: key,
      shard_path: join(this.store.folder, shard.path),
      shard_sha256: shard.sha256,
      frame_begin: shard.frameBegin,
      frame_end: shard.frameEnd,
      scores_path: file('scores'),
      embeddings_path: this.keepEmbeddings ? file('embeddings') : null,
    };
  }

  done(done: ShardDone): void {
    this.enqueue(() => this.storeScores(done));
  }

  failed(device: string, failed: ShardFailed): void {
    const halting = HALTING[failed.code];
    if (failed.code === 'recalled') {
      this.giveBack(device, failed.shard, 'recalled');
    } else if (halting) {
      this.giveBack(device, failed.shard, 'interrupted');
      this.handlers.halt(appError(halting, failed.message, { detail: failed.detail }));
    } else if (failed.code === 'shard_unreadable') {
      this.enqueue(async () => {
        await this.endAttempt(failed.shard, 'damaged', failed);
        this.lose(failed.shard, failed.message);
      });
    } else {
      this.casualty(failed.shard, failed);
    }
  }

  /** A shard has cost a worker its life or its memory: try again, cut it in two, or let its sequences fail by name. */
  casualty(key: string, failure: { code: ShardFailureCode; message: string }): void {
    this.enqueue(async () => {
      await this.endAttempt(key, 'worker_lost', failure);
      if (decideAfterCasualty(this.queue.casualtiesOf(key)) === 'try_again') this.queue.giveBack(key, 1);
      else await this.bisect(key, failure);
    });
  }

  /** The shard comes back untouched, through no fault of its own. */
  giveBack(device: string, key: string, outcome: 'recalled' | 'interrupted'): void {
    if (this.queue.holder(key) !== device) return;
    const ended = this.endAttempt(key, outcome);
    const after = ended.then(() => null);
    // A failure is told when its turn in the queue comes, which may be later.
    for (const promise of [ended, after]) promise.catch(() => undefined);
    this.attempts.set(key, after);
    this.queue.giveBack(key, this.queue.casualtiesOf(key));
    this.enqueue(() => ended);
  }

  private enqueue(work: () => Promise<void>): void {
    this.workOpen += 1;
    this.work = this.work
      .then(work)
      .catch((reason: unknown) => {
        this.handlers.halt(asAppError(reason));
      })
      .finally(() => {
        this.workOpen -= 1;
        this.handlers.changed();
      });
  }

  private async storeScores(done: ShardDone): Promise<void> {
    const key = done.shard;
    const attempt = await this.attempts.get(key);
    if (typeof attempt !== 'number') {
      this.settle(key);
      return;
    }
    const intake = await this.store.completeShard(done, attempt, Date.now());
    switch (intake.outcome) {
      case 'taken':
      case 'already_done':
      case 'superseded':
        this.settle(key);
        break;
      case 'scores_damaged':
        this.notes.add(
          'warning',
          'scores_damaged',
          `The scores of part ${key} were damaged on disk; the part is computed again.`,
          intake.message,
        );
        this.queue.giveBack(key, 0);
        break;
      case 'shard_damaged':
        this.lose(key, intake.message);
        break;
    }
  }

  private async bisect(key: string, failure: { code: ShardFailureCode; message: string }): Promise<void> {
    const split = await this.store.splitShard(key);
    switch (split.outcome) {
      case 'split':
        this.notes.add(
          'warning',
          'shard_bisected',
          `Part ${key} failed again and is cut in two to find the sequence that does it.`,
        );
        this.settle(key);
        for (const child of split.children) {
          const shard = await this.store.shard(child);
          if (shard) this.offer(shard);
        }
        break;
      case 'indivisible': {
        const failing = await this.store.failShard(key, failure);
        if (failing.outcome === 'shard_damaged') {
          this.lose(key, failing.message);
        } else {
          this.notes.add('error', 'shard_failed', `Part ${key} failed: ${failure.message}`);
          this.settle(key);
        }
        break;
      }
      case 'superseded':
        this.settle(key);
        break;
      case 'shard_damaged':
        this.lose(key, split.message);
        break;
    }
  }

  private async endAttempt(
    key: string,
    outcome: AttemptOutcome,
    failure?: { code: string; message: string },
  ): Promise<void> {
    const attempt = await this.attempts.get(key);
    if (typeof attempt !== 'number') return;
    const words = failure ? { code: failure.code, message: failure.message } : {};
    await this.store.endAttempt(attempt, { outcome, endedAt: Date.now(), ...words });
  }

  private lose(key: string, message: string): void {
    this.notes.add(
      'warning',
      'shard_file_damaged',
      `The work file of part ${key} is damaged; it is made again from the input.`,
      message,
    );
    this.settle(key);
    this.handlers.shardLost(key);
  }

  private settle(key: string): void {
    this.queue.settle(key);
    this.shards.delete(key);
    this.attempts.delete(key);
  }
}
