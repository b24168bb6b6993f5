import { NO_DAMAGE } from '../results/damage.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appError } from '../../contract/errors.ts';
import { isActive, runStateSchema, type RunState } from '../../contract/runState.ts';
import { transition, type LifecycleEvent } from './runRecord.ts';

const error = appError('disk_full', 'no space left');

const lifecycleEvents: LifecycleEvent[] = [
  { type: 'start' },
  { type: 'pause' },
  { type: 'drain' },
  { type: 'enough', goal: { kind: 'half_width', share: 0.1 } },
  { type: 'workers_idle' },
  { type: 'halt', error },
  { type: 'parts_settled' },
  { type: 'tables_written', failedParts: 1, failedRecords: 3, failedInputs: 0, damage: NO_DAMAGE },
  { type: 'cancel' },
  { type: 'reopen' },
];

function live(start: RunState, steps: LifecycleEvent[]): RunState[] {
  const states = [start];
  for (const step of steps) {
    const next = transition(states.at(-1) ?? start, step);
    if (next.ok) states.push(next.state);
  }
  return states;
}

describe('run transitions', () => {
  it('stops with the goal that it has reached, and has none after it was resumed', () => {
    const goal = { kind: 'half_width', share: 0.005 } as const;
    const states = live({ phase: 'running' }, [
      { type: 'enough', goal },
      { type: 'workers_idle' },
      { type: 'start' },
      { type: 'pause' },
      { type: 'workers_idle' },
    ]);
    expect(states[2]).toEqual({ phase: 'paused', error: null, enough: goal });
    expect(states.at(-1)).toEqual({ phase: 'paused', error: null });
  });

  it('never leaves the states of the contract, writes tables from finishing only, halts at work only, and can always start', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...lifecycleEvents), { maxLength: 40, size: 'max' }), (steps) => {
        const states = live({ phase: 'created' }, steps);
        for (const state of states) runStateSchema.parse(state);
        states.forEach((state, index) => {
          if (state.phase !== 'done') return;
          expect(states[index - 1]?.phase).toBe('finishing');
          expect(state).toEqual({ phase: 'done', failedParts: 1, failedRecords: 3 });
        });
        const last = states.at(-1) as RunState;
        expect(transition(last, { type: 'halt', error }).ok).toBe(isActive(last));
        expect(transition(last, { type: 'start' })).toEqual({ ok: true, state: { phase: 'running' } });
      }),
    );
  });
});
