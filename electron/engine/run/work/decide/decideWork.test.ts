import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { done, part } from './testing/workEvents.ts';
import { keysOf, World } from './testing/world.ts';

/** A world with these parts waiting, and prepared; each is a single chunk. */
function prepared(devices: readonly string[], partCount: number): World {
  const keys = keysOf(partCount);
  const world = new World(devices, { keys });
  world.start(
    keys.map((key) => part(key)),
    true,
  );
  return world;
}

describe('a session of work', () => {
  it('computes parts with files at once, and has lost files rewritten', () => {
    for (const prepared of [true, false]) {
      const world = new World(['gpu-0'], { keys: keysOf(3) });
      world.start([part('000001'), part('000002')], prepared, ['000002']);
      world.getReady('gpu-0');
      expect(world.held.get('gpu-0')).toEqual(['000001']);
      world.calmDown();
      expect(world.outcomes).toEqual(['settled']);
      expect(world.prepareStarts).toBe(1);
      expect(['000001', '000002'].map((key) => world.parts.get(key))).toEqual(['done', 'done']);
    }
  });

  it("reads the inputs again once if a part's file turns out damaged while they are still being read", () => {
    const world = new World(['gpu-0'], { keys: keysOf(3) });
    world.start([part('000001'), part('000002')], false);
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
    const world = new World(['gpu-0'], { keys: keysOf(2) });
    world.start([], false);
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
        const world = new World(used, { keys, halvings: 2 });
        const isKnown = (id: string) => world.state.devices.has(id);
        let drained = false;
        world.start([], false);
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
