import { describe, expect, it } from 'vitest';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { appError, type RunSummary } from '../../../electron/contract/index.ts';
import { madeRun } from '../../testing/memoryEngine/runs.ts';
import { queuedRuns, runStatus } from './runs.ts';

const run = (state: RunSummary['state'], more: Partial<RunSummary> = {}) =>
  madeRun({ runId: '11111111-1111-4111-8111-111111111111', name: 'a', state, more }, 0);
const error = appError('disk_full', 'full');

describe('the status of a run', () => {
  it.each([
    [run({ phase: 'running' }), 'running'],
    [run({ phase: 'running' }, { interrupted: true }), 'interrupted'],
    [run({ phase: 'running' }, { interrupted: true, missing: true }), 'missing'],
    [run({ phase: 'created' }), 'paused'],
    [run({ phase: 'created' }, { starting: true }), 'created'],
    [run({ phase: 'paused', error: null }, { starting: true }), 'created'],
    [run({ phase: 'created' }, { queuePosition: 0 }), 'queued'],
    [run({ phase: 'paused', error: null }), 'paused'],
    [run({ phase: 'paused', error }), 'halted'],
    [run({ phase: 'paused', error }, { queuePosition: 1 }), 'queued'],
    [run({ phase: 'done', failedParts: 0, failedRecords: 0 }), 'done'],
    [run({ phase: 'done', failedParts: 0, failedRecords: 4 }), 'done_with_failures'],
    [run({ phase: 'failed', error }), 'failed'],
  ])('%#', (summary, status) => {
    expect(runStatus(summary)).toBe(status);
  });

  it('does not treat an interrupted run as one at work', () => {
    expect(isAtWork(run({ phase: 'running' }, { interrupted: true }))).toBe(false);
    expect(isAtWork(run({ phase: 'draining' }))).toBe(true);
  });

  it('lists waiting runs in the order in which they start', () => {
    const waiting = [3, 1, 2].map((queuePosition) => run({ phase: 'created' }, { queuePosition }));
    const atWork = run({ phase: 'running' }, { queuePosition: 0 });
    expect(queuedRuns([...waiting, atWork]).map((entry) => entry.queuePosition)).toEqual([1, 2, 3]);
  });
});
