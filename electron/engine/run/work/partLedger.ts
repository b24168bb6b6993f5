import { asAppError, type AppError } from '../../../contract/errors.ts';
import type { PartFailureCode } from '../../../contract/problems.ts';
import type { PartDone } from '../../../contract/protocol/index.ts';
import type { RunStore } from '../../store/runStore.ts';
import {
  preparedKey,
  type AttemptOutcome,
  type AttemptStart,
  type PartFailing,
  type PartIntake,
  type PartSplit,
  type StoredPart,
} from '../../store/types.ts';

/** Why a part was given up, or why its attempt ended. */
export interface PartFailure {
  code: PartFailureCode;
  message: string;
}

/** Each is answered by one `StoreAnswer`. */
export type StoreEffect =
  | { type: 'end_attempt'; key: string; outcome: AttemptOutcome; failure: PartFailure | null }
  | { type: 'store_scores'; done: PartDone }
  | { type: 'split_part'; key: string; failure: PartFailure }
  | { type: 'give_up_part'; key: string; failure: PartFailure }
  | { type: 'read_part'; key: string }
  | { type: 'invalidate_prepare' };

export type StoreAnswer =
  | { type: 'attempt_ended'; key: string; outcome: AttemptOutcome; failure: PartFailure | null }
  | { type: 'scores_stored'; key: string; intake: PartIntake }
  | {
      type: 'part_split';
      key: string;
      split: PartSplit;
      children: readonly StoredPart[];
      failure: PartFailure;
    }
  | { type: 'part_given_up'; key: string; failing: PartFailing; failure: PartFailure }
  | { type: 'part_read'; parts: readonly StoredPart[] }
  | { type: 'prepare_invalidated' }
  | { type: 'store_failed'; error: AppError };

/** The id of a part's open attempt, or null if none is open. */
type Attempt = number | null;

/**
 * Stores the decisions about parts in the run's database, and emits the store's answers. Calls about one part
 * are made one after the other in the order decided; different parts don't wait for each other.
 */
export class PartLedger {
  private readonly store: RunStore;
  private readonly emit: (answer: StoreAnswer) => void;
  private readonly attempts = new Map<string, Promise<Attempt>>();
  private readonly open = new Set<Promise<void>>();

  constructor(store: RunStore, emit: (answer: StoreAnswer) => void) {
    this.store = store;
    this.emit = emit;
  }

  /** The part was handed to a worker. */
  startAttempt(start: AttemptStart): void {
    const attempt = this.attemptOf(start.part).then(() => this.store.startAttempt(start));
    // The failure occurs again, and is emitted, when the attempt ends.
    attempt.catch(() => undefined);
    this.attempts.set(start.part, attempt);
  }

  perform(effect: StoreEffect): void {
    switch (effect.type) {
      case 'store_scores': {
        const { done } = effect;
        this.endAttempt(done.part, async (attempt) => ({
          type: 'scores_stored',
          key: done.part,
          intake:
            attempt === null
              ? { outcome: 'superseded' }
              : await this.store.completePart(done, attempt, Date.now()),
        }));
        break;
      }
      case 'end_attempt': {
        const { key, outcome, failure } = effect;
        this.endAttempt(key, async (attempt) => {
          const end = { outcome, endedAt: Date.now(), ...failure };
          if (attempt !== null) await this.store.endAttempt(attempt, end);
          return { type: 'attempt_ended', key, outcome, failure };
        });
        break;
      }
      case 'split_part':
        this.endAttempt(effect.key, () => this.splitPart(effect.key, effect.failure));
        break;
      case 'give_up_part': {
        const { key, failure } = effect;
        this.endAttempt(key, async () => {
          const failing = await this.store.failPart(key, failure);
          return { type: 'part_given_up', key, failing, failure };
        });
        break;
      }
      case 'read_part':
        this.answer(this.readPart(effect.key));
        break;
      case 'invalidate_prepare':
        this.answer(this.store.invalidatePrepare().then(() => ({ type: 'prepare_invalidated' })));
        break;
    }
  }

  /** Resolves when all decisions so far are stored, along with what followed from the store's answers. */
  async stored(): Promise<void> {
    while (this.open.size > 0) await Promise.all(this.open);
  }

  private attemptOf(key: string): Promise<Attempt> {
    return this.attempts.get(key) ?? Promise.resolve(null);
  }

  /** A call after which the part has no open attempt. */
  private endAttempt(key: string, call: (attempt: Attempt) => Promise<StoreAnswer>): void {
    const answer = this.attemptOf(key).then(call);
    const after = answer.then(() => null);
    this.attempts.set(key, after);
    after.then(
      () => {
        if (this.attempts.get(key) === after) this.attempts.delete(key);
      },
      () => undefined,
    );
    this.answer(answer);
  }

  private answer(answer: Promise<StoreAnswer>): void {
    const reported = answer
      .catch((reason: unknown): StoreAnswer => ({ type: 'store_failed', error: asAppError(reason) }))
      .then((event) => {
        this.open.delete(reported);
        this.emit(event);
      });
    this.open.add(reported);
  }

  private async splitPart(key: string, failure: PartFailure): Promise<StoreAnswer> {
    const split = await this.store.splitPart(key);
    const keys = split.outcome === 'split' ? split.children : [];
    const children = await Promise.all(keys.map((child) => this.store.part(child)));
    return {
      type: 'part_split',
      key,
      split,
      children: children.filter((child) => child !== null),
      failure,
    };
  }

  /**
   * The part if it waits. The halves of a part that was cut in two share its file: those of them that wait.
   */
  private async readPart(key: string): Promise<StoreAnswer> {
    const part = await this.store.part(key);
    if (part?.state === 'pending') return { type: 'part_read', parts: [part] };
    if (part?.state !== 'split') return { type: 'part_read', parts: [] };
    const pending = await this.store.pendingParts();
    const isHalf = (other: StoredPart): boolean => other.key !== key && preparedKey(other.key) === key;
    return { type: 'part_read', parts: pending.filter(isHalf) };
  }
}
