/**
 * Whom a worker's death is blamed on: parts of eight chunks, of which some kill whatever computes them, and
 * workers that also die of something else. The store, the devices and the restarts are modelled.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Restarts } from '../../../workers/backendProcess.ts';
import { part } from './testing/workEvents.ts';
import { keysOf, PromptWorld } from './testing/world.ts';
import type { WorkEffect } from './workState.ts';

const CHUNKS = 8;
/** Halvings from a whole part to a single chunk. */
const DEPTH = Math.log2(CHUNKS);

/** The chunks of a part as the keys that they would have alone. */
function chunksOf(key: string): string[] {
  return key.split('.').length > DEPTH ? [key] : [`${key}.0`, `${key}.1`].flatMap(chunksOf);
}

/** How often each part was computed, and what it came to, over all starts. */
class Run {
  readonly parts = new Map<string, 'pending' | 'done' | 'failed' | 'split'>();
  /** Attempts begun, as the database counts them; what a worker's end or a pause takes back is not counted. */
  readonly attempts = new Map<string, number>();
  readonly deadly: ReadonlySet<string>;

  /** `deadly`: numbers of the chunks that kill their worker. */
  constructor(partCount: number, deadly: readonly number[]) {
    for (const key of keysOf(partCount)) this.parts.set(key, 'pending');
    const chunks = [...this.parts.keys()].flatMap(chunksOf);
    this.deadly = new Set(deadly.map((number) => chunks[number] ?? ''));
  }

  isDeadly(key: string): boolean {
    return chunksOf(key).some((chunk) => this.deadly.has(chunk));
  }

  keysIn(state: string): string[] {
    return [...this.parts.keys()].filter((key) => this.parts.get(key) === state).toSorted();
  }
}

interface Failure {
  keys: readonly string[];
  died: boolean;
  /** Whether no other device was computing anything. */
  alone: boolean;
}

/** One start of the run, until it settles, halts, or the program is killed. */
class Session extends PromptWorld {
  /** In this start: the parts that were lost with a worker, or that a living worker reported as failed. */
  readonly failures: Failure[] = [];
  private readonly run: Run;
  private readonly restarts = new Map<string, Restarts>();

  constructor(run: Run, devices: readonly string[]) {
    super(devices, { halvings: DEPTH, parts: run.parts });
    this.run = run;
    this.start(
      run.keysIn('pending').map((key) => part(key, { attempts: run.attempts.get(key) ?? 0 })),
      true,
    );
  }

  get outcome(): string | undefined {
    return this.outcomes[0];
  }

  protected override perform(effect: WorkEffect): void {
    if (effect.type === 'start_worker') this.restarts.set(effect.device, new Restarts(() => undefined, 0));
    if (effect.type === 'assign') this.count(effect.part.key, 1);
    if (effect.type === 'recall') this.count(effect.key, -1);
    if (effect.type === 'split_part') this.checkBlame(effect.key, 2);
    if (effect.type === 'give_up_part') this.checkBlame(effect.key, 3);
    super.perform(effect);
  }

  /**
   * Nothing is cut or given up that has not failed twice, itself or the part that it is a half of, with no death
   * of anything else in between, and the last time alone.
   */
  private checkBlame(key: string, times: number): void {
    const ofIt = ({ keys }: Failure): boolean => keys.some((other) => isWithin(key, other));
    const row = this.failures.filter((failure) => failure.died || ofIt(failure)).slice(-times);
    expect(row.filter(ofIt)).toHaveLength(times);
    expect(row.at(-1)).toMatchObject({ keys: [key], alone: true });
  }

  private count(key: string, more: number): void {
    this.run.attempts.set(key, (this.run.attempts.get(key) ?? 0) + more);
  }

  /** The worker of a device computes its first part, and dies of it if that is deadly. */
  step(device: string): void {
    const [first] = this.held.get(device) ?? [];
    if (this.outcome !== undefined) return;
    this.getReady(device);
    if (first === undefined) return;
    if (this.run.isDeadly(first)) {
      this.lose(device);
      return;
    }
    this.restarts.get(device)?.progress();
    this.finishPart(device);
  }

  private lose(device: string): void {
    const held = this.held.get(device);
    if (this.outcome !== undefined || held === undefined) return;
    this.note(device, held, true);
    const restarts = this.restarts.get(device);
    const isForGood = restarts?.died() === null;
    restarts?.cancel();
    this.die(device, isForGood);
  }

  /** Somebody ends the worker, unless the last death of this start was of the same part. */
  killWorker(device: string): void {
    const last = this.failures.findLast(({ died }) => died)?.keys ?? [];
    const held = this.held.get(device) ?? [];
    if (!held.some((key) => last.some((other) => isWithin(key, other)))) this.lose(device);
  }

  /** The worker reports an error itself, and lives; only if its part has not failed in this start. */
  report(device: string): void {
    const [first] = this.held.get(device) ?? [];
    if (this.outcome !== undefined || first === undefined) return;
    if (this.failures.some(({ keys }) => keys.some((other) => isWithin(first, other)))) return;
    this.note(device, [first], false);
    this.finishPart(device, 'internal_error');
  }

  private note(device: string, keys: readonly string[], died: boolean): void {
    const others = [...this.held].filter(([id, held]) => id !== device && held.length > 0);
    this.failures.push({ keys: [...keys], died, alone: others.length === 0 });
  }

  /** The program is killed, and the run is started again as after a halt; attempts that were open do not count. */
  kill(): void {
    for (const key of [...this.held.values()].flat()) this.count(key, -1);
    this.outcomes.unshift('halt');
  }

  /** From now on workers die of deadly chunks only. */
  finish(): void {
    for (let steps = 0; this.outcome === undefined && steps < 10_000; steps++)
      for (const device of this.held.keys()) this.step(device);
  }
}

/** Whether a part is the other one, or was cut from it. */
const isWithin = (key: string, other: string): boolean => key === other || key.startsWith(`${other}.`);

const DEVICES = ['gpu-0', 'gpu-1', 'gpu-2'];
const MOST_PARTS = 4;
const partCount = fc.integer({ min: 1, max: MOST_PARTS });
/** Three of the whole part, twice as many if others die in between; two of each half, three of the chunk. */
const TRIES = 6 + 2 * (DEPTH - 1) + 3;
const devices = fc.integer({ min: 1, max: DEVICES.length }).map((count) => DEVICES.slice(0, count));
/** A run, and which of its chunks are deadly. */
const runWith = (mostDeadly: number) =>
  partCount.chain((count) =>
    fc
      .uniqueArray(fc.nat(CHUNKS * count - 1), { maxLength: mostDeadly })
      .map((places) => new Run(count, places)),
  );
type What = 'step' | 'worker killed' | 'engine killed' | 'error reported';
/** What happens, and to which device. */
const script = (what: readonly What[]) =>
  fc.array(fc.tuple(fc.constantFrom('step', 'step', 'step', 'step', ...what), fc.nat(DEVICES.length - 1)), {
    maxLength: 200,
    size: 'max',
  });

/** Plays the script, starting the run again whenever it ends; then lets it end by itself, and counts the starts for that. */
function play(run: Run, used: readonly string[], steps: readonly (readonly [What, number])[]) {
  let session = new Session(run, used);
  for (const [what, number] of steps) {
    const device = used[number % used.length] ?? '';
    if (what === 'step') session.step(device);
    if (what === 'worker killed') session.killWorker(device);
    if (what === 'error reported') session.report(device);
    if (what === 'engine killed') session.kill();
    if (session.outcome === 'halt') session = new Session(run, used);
  }
  const sessions = [session];
  for (; session.outcome !== 'settled' && sessions.length < 100; sessions.push(session)) {
    session.finish();
    if (session.outcome !== 'settled') session = new Session(run, used);
    else break;
  }
  return { outcome: session.outcome, sessions };
}

describe('a part on which workers die', () => {
  it('is neither cut nor failed for deaths that do not repeat in one start while nothing else dies', () => {
    const steps = script(['worker killed', 'worker killed', 'engine killed']);
    fc.assert(
      fc.property(devices, runWith(0), steps, (used, run, what) => {
        expect(play(run, used, what).outcome).toBe('settled');
        expect(run.keysIn('done')).toEqual([...run.parts.keys()]);
      }),
      { numRuns: 300 },
    );
  });

  it('is failed if it is deadly, in a bounded number of tries, and everything else is computed', () => {
    // checkBlame looks at each decision, also beside errors that workers report themselves.
    const steps = script(['worker killed', 'worker killed', 'engine killed', 'error reported']);
    fc.assert(
      fc.property(devices, runWith(4), fc.oneof(steps, fc.constant([])), (used, run, what) => {
        const { outcome, sessions } = play(run, used, what);
        expect(outcome).toBe('settled');
        expect(run.keysIn('failed')).toEqual([...run.deadly].toSorted());
        expect(run.keysIn('pending')).toEqual([]);
        // In the starts in which nothing happened to the workers from outside.
        const tries = sessions.slice(1).flatMap(({ failures }) => failures).length;
        expect(tries).toBeLessThanOrEqual(run.deadly.size * TRIES);
      }),
      { numRuns: 300 },
    );
  });

  it('is found in one start by a single device, which is not switched off for it', () => {
    for (let count = 1; count <= MOST_PARTS; count++) {
      for (let place = 0; place < CHUNKS * count; place++) {
        const run = new Run(count, [place]);
        const { sessions } = play(run, ['gpu-0'], []);
        expect(sessions).toHaveLength(1);
        expect(sessions[0]?.failures.length).toBeLessThanOrEqual(TRIES);
        expect(run.keysIn('failed')).toEqual([...run.deadly]);
      }
    }
  });
});
