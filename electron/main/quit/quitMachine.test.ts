import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayOpenWindow, quitStep, type QuitEvent, type QuitState } from './quitMachine.ts';

const begin = 'open' as QuitState;
const wanted = (atWork: boolean): QuitEvent => ({ type: 'quit_wanted', atWork });
const answered = (answer: 'cancel' | 'background' | 'after_parts' | 'now'): QuitEvent => ({
  type: 'answered',
  answer,
});

/** Effects of a sequence of events from the beginning. */
function effects(...events: QuitEvent[]): string[] {
  let state = begin;
  return events.map((event) => {
    const step = quitStep(state, event);
    ({ state } = step);
    return step.effect;
  });
}

describe('quitting', () => {
  it('asks only once at a time, and not while it cleans up', () => {
    expect(effects(wanted(true), wanted(true))).toEqual(['ask', 'nothing']);
    expect(effects(wanted(false), wanted(true), answered('cancel'))).toEqual(['clean', 'nothing', 'nothing']);
  });

  it('does not ask when the system shuts down, not even in the middle of a question', () => {
    expect(effects({ type: 'system_ends' })).toEqual(['clean']);
    expect(effects(wanted(true), { type: 'system_ends' }, answered('cancel'), { type: 'cleaned' })).toEqual([
      'ask',
      'clean',
      'nothing',
      'let_go',
    ]);
  });

  it('never quits before cleaning up is done, and never returns from the end', () => {
    const event = fc.oneof(
      fc.boolean().map(wanted),
      fc.constantFrom('cancel', 'background', 'after_parts', 'now').map((answer) => answered(answer)),
      fc.constantFrom<QuitEvent>({ type: 'at_rest' }, { type: 'cleaned' }, { type: 'system_ends' }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        let state: QuitState = begin;
        let cleanings = 0;
        for (const next of events) {
          const before = state;
          const step = quitStep(state, next);
          ({ state } = step);
          if (step.effect === 'clean') cleanings += 1;
          if (step.effect === 'let_go') expect(cleanings).toBe(1);
          if (before === 'cleaning') expect(['cleaning', 'gone']).toContain(state);
          if (before === 'gone') expect(state).toBe('gone');
          expect(mayOpenWindow(state)).toBe(state !== 'cleaning' && state !== 'gone');
        }
        expect(cleanings).toBeLessThanOrEqual(1);
      }),
    );
  });
});
