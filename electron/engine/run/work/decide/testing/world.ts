import assert from 'node:assert/strict';
import { expect } from 'vitest';
import type { PartDone, PartFailed } from '../../../../../contract/protocol/index.ts';
import type { StoredPart } from '../../../../store/types.ts';
import type { StoreAnswer, StoreEffect } from '../../partLedger.ts';
import { decideWork } from '../decideWork.ts';
import { type WorkEffect, type WorkEvent, newWorkState, PARTS_IN_FLIGHT } from '../workState.ts';
import { died, done, failed, part, ready, started } from './workEvents.ts';

export /**
 * A model of everything around the decisions: workers that hold parts, a store that answers at any time, and
 * prepare. It checks the invariants at every step.
 */
class World {
  readonly state;
  readonly held = new Map<string, string[]>();
  readonly stopping = new Set<string>();
  readonly restarting = new Set<string>();
  readonly recalls: { device: string; key: string }[] = [];
  readonly outcomes: WorkEffect['type'][] = [];
  readonly unanswered: StoreEffect[] = [];
  readonly parts: Map<string, 'pending' | 'done' | 'failed' | 'split'>;
  readonly switchedOff: string[] = [];
  readonly keys: readonly string[];
  readonly halvings: number;
  private toPrepare: string[] = [];
  preparing = false;
  prepareStarts = 0;

  /** `halvings`: how often a part can be halved, until it is a single chunk. */
  constructor(
    devices: readonly string[],
    { keys = [], halvings = 0, parts = new Map() }: Partial<Pick<World, 'keys' | 'halvings' | 'parts'>> = {},
  ) {
    this.halvings = halvings;
    this.state = newWorkState(devices.map((id) => ({ id, name: id })));
    this.keys = keys;
    this.parts = parts;
  }

  /** `parts`: those that wait. */
  start(parts: readonly StoredPart[], prepared: boolean, lost: readonly string[] = []): void {
    for (const { key } of parts) this.parts.set(key, 'pending');
    this.emit(started(parts, { lost, prepared }));
  }

  emit(event: WorkEvent): void {
    for (const effect of decideWork(this.state, event)) this.perform(effect);
    assert.equal(this.state.unanswered, this.unanswered.length);
    // Each device that holds parts of the run has a worker.
    for (const { id, held } of this.state.devices.values()) assert.deepEqual(held, this.held.get(id) ?? []);
    assert.ok(this.outcomes.length <= 1);
    const all = [...this.held.values()].flat();
    assert.equal(new Set(all).size, all.length);
    for (const keys of this.held.values()) assert.ok(keys.length <= PARTS_IN_FLIGHT);
  }

  protected perform(effect: WorkEffect): void {
    const running = ['start_worker', 'start_prepare', 'assign', 'recall', 'stop_worker'];
    if (running.includes(effect.type)) expect(this.outcomes).toEqual([]);
    switch (effect.type) {
      case 'start_worker':
        expect(this.held.has(effect.device) || this.stopping.has(effect.device)).toBe(false);
        this.held.set(effect.device, []);
        this.restarting.add(effect.device);
        break;
      case 'stop_worker':
        this.stopping.add(effect.device);
        break;
      case 'assign': {
        const { key } = effect.part;
        expect(this.restarting.has(effect.device)).toBe(false);
        this.held.get(effect.device)?.push(key);
        break;
      }
      case 'recall':
        expect(this.held.get(effect.device)?.indexOf(effect.key)).toBeGreaterThan(0);
        this.recalls.push(effect);
        break;
      case 'start_prepare':
        this.preparing = true;
        this.toPrepare = [...this.keys];
        this.prepareStarts += 1;
        break;
      case 'settled':
      case 'drained':
      case 'halt':
        this.outcomes.push(effect.type);
        break;
      case 'record_switched_off':
        if (effect.error) this.switchedOff.push(effect.device);
        break;
      case 'start_monitor':
      case 'show_worker':
      case 'note':
      case 'start_shares':
      case 'prepared':
        break;
      default:
        this.unanswered.push(effect);
    }
  }

  /** The store answers the first open question about the same part. */
  answer(choice: number, fate: number): void {
    const chosen = this.unanswered[choice % this.unanswered.length];
    const keyOf = (effect: StoreEffect): string =>
      effect.type === 'store_scores' ? effect.done.part : 'key' in effect ? effect.key : effect.type;
    const index = this.unanswered.findIndex((effect) => chosen && keyOf(effect) === keyOf(chosen));
    const [effect] = this.unanswered.splice(index, 1);
    if (effect) this.emit(this.storeAnswer(effect, fate));
  }

  private storeAnswer(effect: StoreEffect, fate: number): StoreAnswer {
    switch (effect.type) {
      case 'end_attempt': {
        const { key, outcome, failure } = effect;
        return { type: 'attempt_ended', key, outcome, failure };
      }
      case 'store_scores': {
        const key = effect.done.part;
        if (fate % 7 === 0)
          return { type: 'scores_stored', key, intake: { outcome: 'scores_damaged', message: '' } };
        if (fate % 11 === 0)
          return { type: 'scores_stored', key, intake: { outcome: 'part_damaged', message: '' } };
        expect(this.parts.get(key)).toBe('pending');
        this.parts.set(key, 'done');
        return { type: 'scores_stored', key, intake: { outcome: 'taken', chunks: 1 } };
      }
      case 'split_part': {
        const { key, failure } = effect;
        if (key.split('.').length > this.halvings)
          return { type: 'part_split', key, split: { outcome: 'indivisible' }, children: [], failure };
        const children: [string, string] = [`${key}.0`, `${key}.1`];
        this.parts.set(key, 'split');
        for (const child of children) this.parts.set(child, 'pending');
        return {
          type: 'part_split',
          key,
          split: { outcome: 'split', children },
          children: children.map((child) => part(child)),
          failure,
        };
      }
      case 'give_up_part':
        this.parts.set(effect.key, 'failed');
        return { ...effect, type: 'part_given_up', failing: { outcome: 'failed', chunks: 1 } };
      case 'read_part': {
        const halves = [...this.parts].filter(
          ([key, state]) => state === 'pending' && (key === effect.key || key.startsWith(`${effect.key}.`)),
        );
        return { type: 'part_read', parts: halves.map(([key]) => part(key)) };
      }
      case 'invalidate_prepare':
        return { type: 'prepare_invalidated' };
    }
  }

  prepareOne(): void {
    const key = this.toPrepare.shift();
    if (key === undefined) {
      this.preparing = false;
      this.emit({ type: 'prepared' });
      return;
    }
    const known = this.parts.has(key);
    if (!known) this.parts.set(key, 'pending');
    this.emit({ type: 'part_prepared', key, registered: known ? 'known' : 'new' });
  }

  finishPart(device: string, end: PartFailed['code'] | Partial<PartDone> = {}): void {
    const key = this.held.get(device)?.shift();
    if (key === undefined) return;
    this.forgetRecall(key);
    this.emit(typeof end === 'string' ? failed(device, key, end) : done(device, key, end));
  }

  answerRecall(): void {
    const recall = this.recalls.shift();
    if (!recall) return;
    const held = this.held.get(recall.device);
    const place = held?.indexOf(recall.key) ?? -1;
    if (place < 0) return;
    held?.splice(place, 1);
    this.emit(failed(recall.device, recall.key, 'recalled'));
  }

  private forgetRecall(key: string): void {
    const place = this.recalls.findIndex((recall) => recall.key === key);
    if (place >= 0) this.recalls.splice(place, 1);
  }

  die(device: string, forGood: boolean): void {
    const held = this.held.get(device);
    if (!held || this.stopping.has(device)) return;
    for (const key of held) this.forgetRecall(key);
    if (forGood) this.held.delete(device);
    else {
      this.held.set(device, []);
      this.restarting.add(device);
    }
    this.emit(died(device, forGood ? null : 1));
  }

  getReady(device: string): void {
    if (this.held.has(device) && this.restarting.delete(device)) this.emit(ready(device));
  }

  finishStopping(device: string): void {
    if (!this.stopping.delete(device)) return;
    for (const key of this.held.get(device) ?? []) this.forgetRecall(key);
    this.held.delete(device);
    this.restarting.delete(device);
    this.emit({ type: 'worker_stopped', device });
  }

  /**
   * Everything that can happen happens, until nothing is left; the scores of lying devices never match their
   * reports, and nothing else fails, unless workers answer each part with a failure.
   */
  calmDown(
    lies: (device: string, key: string) => boolean = () => false,
    answer?: PartFailed['code'],
  ): number {
    for (let round = 0; round < 10_000; round++) {
      if (this.outcomes.length > 0) return round;
      for (const device of this.stopping) this.finishStopping(device);
      for (const device of this.held.keys()) this.getReady(device);
      const [next] = this.unanswered;
      if (next?.type === 'store_scores') {
        const key = next.done.part;
        this.answer(0, lies(this.state.queue.holder(key) ?? '', key) ? 0 : 1);
      } else if (next) this.answer(0, 1);
      else if (this.recalls.length > 0) this.answerRecall();
      else if (this.preparing) this.prepareOne();
      else for (const device of this.held.keys()) this.finishPart(device, answer);
    }
    throw new Error('The session did not end.');
  }

  /** The keys of the parts in each state. */
  get keysByState(): Record<string, string[]> {
    return Object.groupBy(this.parts.keys(), (key) => this.parts.get(key) ?? '');
  }
}

/** A world whose store and workers answer at once. */
export class PromptWorld extends World {
  override emit(event: WorkEvent): void {
    super.emit(event);
    while (this.unanswered.length > 0) this.answer(0, 1);
    while (this.recalls.length > 0) this.answerRecall();
  }
}

export const keysOf = (count: number) =>
  Array.from({ length: count }, (_, i) => String(i + 1).padStart(6, '0'));
