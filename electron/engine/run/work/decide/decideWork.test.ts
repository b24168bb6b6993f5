import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PartFailed } from '../../../../contract/protocol/index.ts';
import type { StoredPart } from '../../../store/types.ts';
import { type WorkEffect, type WorkEvent, newWorkState, PARTS_IN_FLIGHT } from './workState.ts';
import { decideWork } from './decideWork.ts';
import type { StoreAnswer, StoreEffect } from '../partLedger.ts';
import { DIED, done, failed, part, ready } from './testing/workEvents.ts';

/**
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
  readonly parts = new Map<string, 'pending' | 'assigned' | 'done' | 'failed' | 'split'>();
  readonly switchedOff: string[] = [];
  private readonly keys: readonly string[];
  private readonly halvings: number;
  private toPrepare: string[] = [];
  preparing = false;
  prepareStarts = 0;

  /** `halvings`: how often a part can be halved, until it is a single chunk. */
  constructor(devices: readonly string[], keys: readonly string[], halvings = 2) {
    this.halvings = halvings;
    this.state = newWorkState(devices.map((id) => ({ id, name: id })));
    this.keys = keys;
  }

  start(parts: readonly StoredPart[], { prepared }: { prepared: boolean }): void {
    this.emit({ type: 'started', parts, lost: [], prepared });
  }

  emit(event: WorkEvent): void {
    for (const effect of decideWork(this.state, event)) this.perform(effect);
    expect(this.state.unanswered).toBe(this.unanswered.length);
    // Each device that holds parts of the run has a worker.
    for (const { id, held } of this.state.devices.values()) expect(held).toEqual(this.held.get(id) ?? []);
    expect(this.outcomes.length).toBeLessThanOrEqual(1);
    const all = [...this.held.values()].flat();
    expect(new Set(all).size).toBe(all.length);
    for (const keys of this.held.values()) expect(keys.length).toBeLessThanOrEqual(PARTS_IN_FLIGHT);
  }

  private perform(effect: WorkEffect): void {
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

  finishPart(device: string, code?: PartFailed['code']): void {
    const key = this.held.get(device)?.shift();
    if (key === undefined) return;
    this.forgetRecall(key);
    this.emit(code === undefined ? done(device, key) : failed(device, key, code));
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
    this.emit({ type: 'worker_died', device, error: DIED, restartAttempt: forGood ? null : 1 });
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

const keysOf = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1).padStart(6, '0'));

/** A world with these parts waiting, and prepared; each is a single chunk. */
function prepared(devices: readonly string[], partCount: number): World {
  const world = new World(devices, keysOf(partCount), 0);
  for (const key of keysOf(partCount)) world.parts.set(key, 'pending');
  world.start(
    keysOf(partCount).map((key) => part(key)),
    { prepared: true },
  );
  return world;
}

describe('a session of work', () => {
  it('computes parts with files at once, and has lost files rewritten', () => {
    for (const prepared of [true, false]) {
      const world = new World(['gpu-0'], ['000001', '000002', '000003']);
      const parts = [part('000001'), part('000002')];
      for (const { key } of parts) world.parts.set(key, 'pending');
      world.emit({ type: 'started', parts, lost: ['000002'], prepared });
      world.getReady('gpu-0');
      expect(world.held.get('gpu-0')).toEqual(['000001']);
      world.calmDown();
      expect(world.outcomes).toEqual(['settled']);
      expect(world.prepareStarts).toBe(1);
      expect(['000001', '000002'].map((key) => world.parts.get(key))).toEqual(['done', 'done']);
    }
  });

  it("reads the inputs again once if a part's file turns out damaged while they are still being read", () => {
    const world = new World(['gpu-0'], ['000001', '000002', '000003']);
    for (const key of ['000001', '000002']) world.parts.set(key, 'pending');
    world.start([part('000001'), part('000002')], { prepared: false });
    world.getReady('gpu-0');
    world.finishPart('gpu-0');
    world.finishPart('gpu-0', 'part_unreadable');
    while (world.unanswered.length > 0) world.answer(0, 1);
    expect([...world.parts.values()]).toEqual(['done', 'pending']);
    world.calmDown();
    expect(world.outcomes).toEqual(['settled']);
    expect([...world.parts.values()]).toEqual(['done', 'done', 'done']);
  });

  it('has prepare rewrite damaged parts together', () => {
    const world = new World(['gpu-0'], ['000001', '000002']);
    world.start([], { prepared: false });
    for (let i = 0; i < 3; i++) world.prepareOne();
    while (world.unanswered.length > 0) world.answer(0, 1);
    world.getReady('gpu-0');
    world.finishPart('gpu-0', 'part_unreadable');
    world.finishPart('gpu-0', 'part_unreadable');
    world.calmDown();
    expect(world.outcomes).toEqual(['settled']);
    expect(world.prepareStarts).toBe(2);
    expect([...world.parts.values()]).toEqual(['done', 'done']);
  });

  it('switches off a device that always lies, and continues with the honest one', () => {
    const world = prepared(['liar', 'honest'], 12);
    expect(world.calmDown((device) => device === 'liar')).toBeLessThan(200);
    expect([world.outcomes, world.switchedOff]).toEqual([['settled'], ['liar']]);
    expect(world.keysByState).toEqual({ done: keysOf(12) });
  });

  it('ends with a message if every device lies, and gives up a part that no device can compute', () => {
    const lying = prepared(['liar'], 12);
    lying.calmDown(() => true);
    expect([lying.outcomes, lying.switchedOff]).toEqual([['halt'], ['liar']]);
    const poisoned = prepared(['honest'], 12);
    poisoned.calmDown((_, key) => key === '000003');
    expect([poisoned.outcomes, poisoned.switchedOff]).toEqual([['settled'], []]);
    expect(poisoned.keysByState).toMatchObject({ failed: ['000003'] });
    expect(poisoned.keysByState['done']).toHaveLength(11);
  });

  it('does not let a worker return every part for ever', () => {
    for (const answer of ['recalled', 'part_unreadable'] as const)
      expect(prepared(['lazy'], 4).calmDown(undefined, answer)).toBeLessThan(200);
  });

  it('loses no part and computes none twice, whatever happens in whatever order', () => {
    const devices = ['gpu-0', 'gpu-1', 'gpu-2'];
    const device = fc.constantFrom(...devices);
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.constant('finish'), device, fc.nat()) },
      { weight: 6, arbitrary: fc.tuple(fc.constant('answer'), device, fc.nat()) },
      { weight: 4, arbitrary: fc.tuple(fc.constant('ready'), device, fc.nat()) },
      { weight: 4, arbitrary: fc.tuple(fc.constant('prepare'), device, fc.nat()) },
      { weight: 3, arbitrary: fc.tuple(fc.constant('die'), device, fc.nat()) },
      fc.tuple(fc.constantFrom('unreadable', 'memory', 'recall', 'stopped'), device, fc.nat()),
      fc.tuple(fc.constantFrom('exclude', 'include'), device, fc.nat()),
      fc.tuple(fc.constantFrom('drain', 'stray'), device, fc.nat(30)),
    );
    const run = fc.tuple(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 7 }),
      fc.array(step, { maxLength: 120 }),
    );
    fc.assert(
      fc.property(run, ([deviceCount, partCount, steps]) => {
        const used = devices.slice(0, deviceCount);
        const keys = keysOf(partCount);
        const world = new World(used, keys);
        const isKnown = (id: string) => world.state.devices.has(id);
        let drained = false;
        world.emit({ type: 'started', parts: [], lost: [], prepared: false });
        for (const [what, wanted, number] of steps) {
          if (world.outcomes.length > 0) break;
          const name = used[devices.indexOf(wanted) % used.length] ?? 'gpu-0';
          if (what === 'finish') world.finishPart(name);
          if (what === 'answer' && world.unanswered.length > 0) world.answer(number, number);
          if (what === 'ready') world.getReady(name);
          if (what === 'prepare' && world.preparing) world.prepareOne();
          if (what === 'die') world.die(name, number % 5 === 0);
          if (what === 'unreadable') world.finishPart(name, 'part_unreadable');
          if (what === 'memory') world.finishPart(name, 'out_of_memory');
          if (what === 'recall') world.answerRecall();
          if (what === 'stopped') world.finishStopping(name);
          if (what === 'exclude' && isKnown(name)) world.emit({ type: 'exclude_device', device: name });
          if (what === 'include' && isKnown(name)) world.emit({ type: 'include_device', device: name });
          // A worker's message about a part that it does not have changes nothing.
          if (what === 'stray' && isKnown(name)) world.emit(done(name, '999999'));
          if (what === 'drain' && number === 0) {
            drained = true;
            world.emit({ type: 'drain' });
          }
        }
        world.calmDown();
        const states = [...world.parts.values()];
        const [outcome] = world.outcomes;
        expect(outcome).toBeDefined();
        if (outcome === 'settled') {
          expect(states).not.toContain('pending');
          expect(keys.every((key) => world.parts.has(key))).toBe(true);
        }
        if (outcome === 'drained') expect(drained).toBe(true);
        if (outcome === 'halt')
          expect([...world.held.keys()].every((id) => world.stopping.has(id))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
