import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appError } from '../../../../contract/errors.ts';
import type { PartDone, PartFailureCode } from '../../../../contract/protocol/index.ts';
import type { StoredPart } from '../../../store/types.ts';
import {
  type WorkEffect,
  type WorkEvent,
  type ComputedBy,
  newWorkState,
  PARTS_IN_FLIGHT,
} from './workState.ts';
import { decideWork } from './decideWork.ts';
import type { StoreAnswer, StoreEffect } from '../partLedger.ts';

const DIED = appError('worker_died', 'The worker of gpu-0 stopped.');

function part(key: string, facts: Partial<StoredPart> = {}): StoredPart {
  const bisected = key.includes('.');
  return {
    key,
    residues: 100,
    chunks: 4,
    round: 0,
    attempts: 0,
    state: 'pending',
    bisected,
    ...facts,
  } as StoredPart;
}

const done = (key: string): PartDone => ({ part: key }) as PartDone;
const failed = (key: string, code: PartFailureCode) => ({
  type: 'part_failed' as const,
  part: key,
  code,
  message: 'no',
  detail: '',
});

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
  readonly notes: string[] = [];
  readonly halved: string[] = [];
  readonly switchedOff: string[] = [];
  private readonly keys: readonly string[];
  private toPrepare: string[] = [];
  preparing = false;
  prepareStarts = 0;

  sharesStarts = 0;

  constructor(devices: readonly string[], keys: readonly string[], computedBy: ComputedBy = 'devices') {
    this.state = newWorkState(
      devices.map((id) => ({ id, name: id })),
      computedBy,
    );
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
      case 'start_shares':
        this.sharesStarts += 1;
        break;
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
      case 'halve_batches':
        this.halved.push(...effect.devices);
        break;
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
      case 'prepared':
      case 'drained':
      case 'halt':
        this.outcomes.push(effect.type);
        break;
      case 'note':
        this.notes.push(effect.code);
        break;
      case 'record_switched_off':
        if (effect.error) this.switchedOff.push(effect.device);
        break;
      case 'start_monitor':
      case 'show_worker':
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
        // Halves of halves are single chunks.
        if (key.split('.').length > 2)
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

  finishPart(device: string, code?: PartFailureCode): void {
    const key = this.held.get(device)?.shift();
    if (key === undefined) return;
    this.forgetRecall(key);
    this.emit(
      code === undefined
        ? { type: 'part_done', device, done: done(key) }
        : { type: 'part_failed', device, failed: failed(key, code) },
    );
  }

  answerRecall(): void {
    const recall = this.recalls.shift();
    if (!recall) return;
    const held = this.held.get(recall.device);
    const place = held?.indexOf(recall.key) ?? -1;
    if (place < 0) return;
    held?.splice(place, 1);
    this.emit({ type: 'part_failed', device: recall.device, failed: failed(recall.key, 'recalled') });
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
    if (this.held.has(device) && this.restarting.delete(device))
      this.emit({ type: 'worker_ready', device, ready: {} as never });
  }

  finishStopping(device: string): void {
    if (!this.stopping.delete(device)) return;
    for (const key of this.held.get(device) ?? []) this.forgetRecall(key);
    this.held.delete(device);
    this.restarting.delete(device);
    this.emit({ type: 'worker_stopped', device });
  }

  /** Nothing fails any more: everything that can happen happens, until nothing is left. */
  calmDown(): void {
    for (let round = 0; round < 10_000 && this.outcomes.length === 0; round++) {
      for (const device of this.stopping) this.finishStopping(device);
      for (const device of this.held.keys()) this.getReady(device);
      if (this.unanswered.length > 0) this.answer(0, 1);
      else if (this.recalls.length > 0) this.answerRecall();
      else if (this.preparing) this.prepareOne();
      else for (const device of this.held.keys()) this.finishPart(device);
    }
  }
}

/** Lets devices work until the session ends; the scores from lying devices never match their reports. */
function workAmongLiars(
  devices: readonly string[],
  partCount: number,
  lies: (device: string, key: string) => boolean,
  answersWith?: PartFailureCode,
) {
  const state = newWorkState(devices.map((id) => ({ id, name: id })));
  const held: { device: string; key: string }[] = [];
  const result: {
    outcome: string | null;
    switchedOff: string[];
    done: number;
    givenUp: string[];
    emitted: number;
  } = {
    outcome: null,
    switchedOff: [],
    done: 0,
    givenUp: [],
    emitted: 0,
  };
  const keys = Array.from({ length: partCount }, (_, i) => String(i).padStart(6, '0'));
  const queue: WorkEvent[] = [
    { type: 'started', parts: keys.map((key) => part(key)), lost: [], prepared: true },
    ...devices.map((device): WorkEvent => ({ type: 'worker_ready', device, ready: {} as never })),
  ];
  const react = (effect: WorkEffect): void => {
    if (effect.type === 'assign') held.push({ device: effect.device, key: effect.part.key });
    if (effect.type === 'stop_worker') {
      for (const one of held.filter(({ device }) => device === effect.device))
        held.splice(held.indexOf(one), 1);
      queue.push({ type: 'worker_stopped', device: effect.device });
    }
    if (effect.type === 'record_switched_off') result.switchedOff.push(effect.device);
    if (effect.type === 'settled' || effect.type === 'halt') result.outcome = effect.type;
    if (effect.type === 'start_prepare') {
      for (const key of keys) queue.push({ type: 'part_prepared', key, registered: 'known' });
      queue.push({ type: 'prepared' });
    }
    if (effect.type === 'invalidate_prepare') queue.push({ type: 'prepare_invalidated' });
    if (effect.type === 'read_part') queue.push({ type: 'part_read', parts: [part(effect.key)] });
    if (effect.type === 'end_attempt')
      queue.push({
        type: 'attempt_ended',
        key: effect.key,
        outcome: effect.outcome,
        failure: effect.failure,
      });
    if (effect.type === 'split_part') {
      const { key, failure } = effect;
      queue.push({ type: 'part_split', key, split: { outcome: 'indivisible' }, children: [], failure });
    }
    if (effect.type === 'give_up_part') {
      result.givenUp.push(effect.key);
      const failing = { outcome: 'failed', chunks: 1 } as const;
      queue.push({ type: 'part_given_up', key: effect.key, failing, failure: effect.failure });
    }
    if (effect.type === 'store_scores') {
      const key = effect.done.part;
      const isLie = lies(state.queue.holder(key) ?? '', key);
      if (!isLie) result.done += 1;
      const intake = isLie
        ? ({ outcome: 'scores_damaged', message: 'no' } as const)
        : ({ outcome: 'taken', chunks: 1 } as const);
      queue.push({ type: 'scores_stored', key, intake });
    }
  };
  while (result.outcome === null && result.emitted < 1000) {
    if (queue.length === 0) {
      const next = held.shift();
      if (!next) break;
      const { device, key } = next;
      queue.push(
        answersWith
          ? { type: 'part_failed', device, failed: failed(key, answersWith) }
          : { type: 'part_done', device, done: done(key) },
      );
    }
    const event = queue.shift();
    if (event === undefined) break;
    result.emitted += 1;
    for (const effect of decideWork(state, event)) react(effect);
  }
  return result;
}

describe('a session of work', () => {
  it('halves batches on every device with a worker before a part is retried', () => {
    const world = new World(['gpu-0', 'gpu-1'], []);
    world.start([part('000001')], { prepared: true });
    world.emit({ type: 'exclude_device', device: 'gpu-1' });
    world.emit({ type: 'halve_batches' });
    expect(world.halved).toEqual(['gpu-0']);
    expect(world.notes).toContain('batches_halved');
  });

  it('prepares, computes and stores every part, and only then is settled', () => {
    const world = new World(['gpu-0'], ['000001', '000002', '000003']);
    world.start([], { prepared: false });
    world.getReady('gpu-0');
    world.calmDown();
    expect(world.outcomes).toEqual(['settled']);
    expect([...world.parts.values()]).toEqual(['done', 'done', 'done']);
  });

  it('starts no process if nothing is left to compute', () => {
    const state = newWorkState([{ id: 'gpu-0', name: 'gpu-0' }]);
    const started: WorkEvent = { type: 'started', parts: [], lost: [], prepared: true };
    expect(decideWork(state, started)).toEqual([{ type: 'settled' }]);
  });

  it('starts no process if it was stopped while still reading its list of parts', () => {
    const state = newWorkState([{ id: 'gpu-0', name: 'gpu-0' }]);
    expect(decideWork(state, { type: 'stop' })).toEqual([]);
    const started: WorkEvent = { type: 'started', parts: [part('000001')], lost: [], prepared: true };
    expect(decideWork(state, started)).toEqual([]);
  });

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

  it('computes a part that killed its worker alone, then cuts it down to the responsible chunk', () => {
    const world = new World(['gpu-0'], ['000001', '000002']);
    world.start([], { prepared: false });
    const poisonous = (key: string): boolean => /^000001(\.1)*$/.test(key);
    for (let round = 0; round < 200 && world.outcomes.length === 0; round++) {
      world.getReady('gpu-0');
      if (world.unanswered.length > 0) world.answer(0, 1);
      else if (world.preparing) world.prepareOne();
      else if (world.held.get('gpu-0')?.some(poisonous)) world.die('gpu-0', false);
      else world.finishPart('gpu-0');
    }
    expect(world.outcomes).toEqual(['settled']);
    expect(Object.fromEntries(world.parts)).toEqual({
      '000001': 'split',
      '000002': 'done',
      '000001.0': 'done',
      '000001.1': 'split',
      '000001.1.0': 'done',
      '000001.1.1': 'failed',
    });
    expect(world.notes).toContain('part_bisected');
    expect(world.notes).toContain('part_failed');
  });

  it('has prepare rewrite a damaged part once, and halts for the disk and for lack of devices', () => {
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

    const full = new World(['gpu-0', 'gpu-1'], ['000001']);
    full.start([part('000001')], { prepared: true });
    full.getReady('gpu-0');
    full.finishPart('gpu-0', 'disk_full');
    expect(full.outcomes).toEqual(['halt']);

    const lonely = new World(['gpu-0', 'gpu-1'], []);
    lonely.start([part('000001')], { prepared: true });
    lonely.die('gpu-0', true);
    expect(lonely.outcomes).toEqual([]);
    lonely.die('gpu-1', true);
    expect(lonely.outcomes).toEqual(['halt']);
    expect(lonely.switchedOff).toEqual(['gpu-0', 'gpu-1']);
  });

  it('gives a re-included device a worker only once the last one has ended', () => {
    const world = new World(['gpu-0', 'gpu-1'], []);
    const parts = ['000001', '000002', '000003', '000004'].map((key) => part(key));
    for (const { key } of parts) world.parts.set(key, 'pending');
    world.start(parts, { prepared: true });
    world.getReady('gpu-0');
    world.emit({ type: 'exclude_device', device: 'gpu-0' });
    world.emit({ type: 'include_device', device: 'gpu-0' });
    expect(world.restarting.has('gpu-0')).toBe(false);
    world.finishStopping('gpu-0');
    expect(world.restarting.has('gpu-0')).toBe(true);
    world.calmDown();
    expect(world.outcomes).toEqual(['settled']);
  });

  it('switches off a device that always lies, and continues with the honest one', () => {
    const { outcome, switchedOff, done, emitted } = workAmongLiars(
      ['liar', 'honest'],
      12,
      (device) => device === 'liar',
    );
    expect(switchedOff).toEqual(['liar']);
    expect(outcome).toBe('settled');
    expect(done).toBe(12);
    expect(emitted).toBeLessThan(200);
  });

  it('ends with a message if every device lies, and gives up a part that no device can compute', () => {
    expect(workAmongLiars(['liar'], 12, () => true)).toMatchObject({
      outcome: 'halt',
      switchedOff: ['liar'],
    });
    const poisoned = workAmongLiars(['honest'], 12, (_, key) => key === '000003');
    expect(poisoned).toMatchObject({ outcome: 'settled', switchedOff: [], done: 11, givenUp: ['000003'] });
  });

  it('does not let a worker return every part for ever', () => {
    const { outcome, emitted } = workAmongLiars(['lazy'], 4, () => false, 'recalled');
    expect(outcome).toBe('settled');
    expect(emitted).toBeLessThan(200);
    expect(workAmongLiars(['blind'], 4, () => false, 'part_unreadable').outcome).toBe('settled');
  });

  it('lets a cluster compute what is prepared, and is settled when all of it is merged', () => {
    const keys = ['000001', '000002', '000003'];
    const world = new World([], [], 'shares');
    world.start(
      keys.map((key) => part(key)),
      { prepared: true },
    );
    world.emit({ type: 'shares_merged', keys: ['000003', '000001'] });
    expect([world.sharesStarts, world.outcomes]).toEqual([1, []]);
    world.emit({ type: 'shares_merged', keys: ['000002'] });
    expect([world.sharesStarts, world.outcomes]).toEqual([1, ['settled']]);
  });

  it('halts if a cluster fails, and stops once all is prepared if nothing should be computed', () => {
    const failing = new World([], [], 'shares');
    failing.start([part('000001')], { prepared: true });
    failing.emit({ type: 'shares_failed', error: DIED });
    const preparing = new World([], [], 'nothing');
    preparing.start([part('000001')], { prepared: true });
    const computed = new World([], [], 'nothing');
    computed.start([], { prepared: true });
    expect([failing, preparing, computed].map(({ outcomes }) => outcomes)).toEqual([
      ['halt'],
      ['prepared'],
      ['settled'],
    ]);
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
        const keys = Array.from({ length: partCount }, (_, i) => String(i + 1).padStart(6, '0'));
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
          if (what === 'stray' && isKnown(name))
            world.emit({ type: 'part_done', device: name, done: done('999999') });
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
