import { join } from 'node:path';
import { appError, asAppError, type AppError } from '../../../contract/errors.ts';
import type { PartCommand, PartDone, PartFailed, PartFailureCode } from '../../../contract/protocol/index.ts';
import type { AttemptOutcome, StoredPart } from '../../store/types.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { decideAfterCasualty } from './casualtyPolicy.ts';
import type { RunNotes } from '../runNotes.ts';
import { PartQueue } from './partQueue.ts';

export interface PartLedgerHandlers {
  /** Something may now be assigned, or everything may be settled. */
  changed: () => void;
  /** The run can't go on as it is: disk full, folder gone. */
  halt: (error: AppError) => void;
  /** A part's file is missing or damaged: prepare must write it again. */
  partLost: (key: string) => void;
}

/** Failures of the computer rather than of the part that met them. */
const HALTING: Partial<Record<PartFailureCode, 'disk_full' | 'folder_unwritable'>> = {
  disk_full: 'disk_full',
  write_failed: 'folder_unwritable',
};

/**
 * Keeps queue and database in step: who has which part, and what became of it. A part leaves it only stored, failed,
 * skipped or cut in two.
 */
export class PartLedger {
  private readonly store: RunStore;
  private readonly notes: RunNotes;
  private readonly handlers: PartLedgerHandlers;
  private readonly keepEmbeddings: boolean;
  private readonly queue = new PartQueue();
  private readonly parts = new Map<string, StoredPart>();
  /** The newest attempt's number by part, or null once it has ended. A new one starts only after the last has ended. */
  private readonly attempts = new Map<string, Promise<number | null>>();
  private work: Promise<void> = Promise.resolve();
  private workOpen = 0;

  constructor(store: RunStore, notes: RunNotes, keepEmbeddings: boolean, handlers: PartLedgerHandlers) {
    this.store = store;
    this.notes = notes;
    this.keepEmbeddings = keepEmbeddings;
    this.handlers = handlers;
  }

  /** A part is ready to be computed. */
  offer(part: StoredPart): void {
    if (this.queue.has(part.key)) return;
    this.parts.set(part.key, part);
    const casualties = part.bisected || part.attempts > 0 ? 1 : 0;
    this.queue.add({ key: part.key, residues: part.residues, casualties });
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

  /** Hands out the next part, or nothing when none waits. */
  take(device: string, workerPid: number, log: string): PartCommand | undefined {
    const queued = this.queue.take(device);
    const part = queued && this.parts.get(queued.key);
    if (!part) return undefined;
    const { key } = part;
    const begin = { part: key, device, workerPid, startedAt: Date.now(), log };
    const attempt = (this.attempts.get(key) ?? Promise.resolve()).then(() => this.store.startAttempt(begin));
    // A failure to note it shows again, and is told, when the attempt ends.
    attempt.catch(() => undefined);
    this.attempts.set(key, attempt);
    const file = (kind: string): string => join(this.store.folder, 'work', kind, `${key}.safetensors`);
    return {
      type: 'part',
      part: key,
      part_path: join(this.store.folder, part.path),
      part_sha256: part.sha256,
      frame_begin: part.frameBegin,
      frame_end: part.frameEnd,
      scores_path: file('scores'),
      embeddings_path: this.keepEmbeddings ? file('embeddings') : null,
    };
  }

  done(done: PartDone): void {
    this.enqueue(() => this.storeScores(done));
  }

  failed(device: string, failed: PartFailed): void {
    const halting = HALTING[failed.code];
    if (failed.code === 'recalled') {
      this.giveBack(device, failed.part, 'recalled');
    } else if (halting) {
      this.giveBack(device, failed.part, 'interrupted');
      this.handlers.halt(appError(halting, failed.message, { detail: failed.detail }));
    } else if (failed.code === 'part_unreadable') {
      this.enqueue(async () => {
        await this.endAttempt(failed.part, 'damaged', failed);
        this.lose(failed.part, failed.message);
      });
    } else {
      this.casualty(failed.part, failed);
    }
  }

  /** A part has cost a worker its life or its memory: try again, cut it in two, or let its sequences fail by name. */
  casualty(key: string, failure: { code: PartFailureCode; message: string }): void {
    this.enqueue(async () => {
      await this.endAttempt(key, 'worker_lost', failure);
      if (decideAfterCasualty(this.queue.casualtiesOf(key)) === 'try_again') this.queue.giveBack(key, 1);
      else await this.bisect(key, failure);
    });
  }

  /** The part comes back untouched, through no fault of its own. */
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

  private async storeScores(done: PartDone): Promise<void> {
    const key = done.part;
    const attempt = await this.attempts.get(key);
    if (typeof attempt !== 'number') {
      this.settle(key);
      return;
    }
    const intake = await this.store.completePart(done, attempt, Date.now());
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
      case 'part_damaged':
        this.lose(key, intake.message);
        break;
    }
  }

  private async bisect(key: string, failure: { code: PartFailureCode; message: string }): Promise<void> {
    const split = await this.store.splitPart(key);
    switch (split.outcome) {
      case 'split':
        this.notes.add(
          'warning',
          'part_bisected',
          `Part ${key} failed again and is cut in two to find the sequence that does it.`,
        );
        this.settle(key);
        for (const child of split.children) {
          const part = await this.store.part(child);
          if (part) this.offer(part);
        }
        break;
      case 'indivisible': {
        const failing = await this.store.failPart(key, failure);
        if (failing.outcome === 'part_damaged') {
          this.lose(key, failing.message);
        } else {
          this.notes.add('error', 'part_failed', `Part ${key} failed: ${failure.message}`);
          this.settle(key);
        }
        break;
      }
      case 'superseded':
        this.settle(key);
        break;
      case 'part_damaged':
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
      'part_file_damaged',
      `The work file of part ${key} is damaged; it is made again from the input.`,
      message,
    );
    this.settle(key);
    this.handlers.partLost(key);
  }

  private settle(key: string): void {
    this.queue.settle(key);
    this.parts.delete(key);
    this.attempts.delete(key);
  }
}
