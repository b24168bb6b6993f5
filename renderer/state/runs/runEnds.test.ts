import { expect, it } from 'vitest';
import { appError, type RunSummary } from '../../../electron/contract/index.ts';
import { madeRun } from '../../testing/memoryEngine/runs.ts';
import { endedBetween } from './runEnds.ts';

const runId = '11111111-1111-4111-8111-111111111111';
const run = (state: RunSummary['state']) => madeRun({ runId, name: 'a', state }, 0);
const running = run({ phase: 'running' });

it('reports a run that is done or needs attention, once', () => {
  const done = run({ phase: 'done', failedParts: 0, failedRecords: 0 });
  expect(endedBetween([running], [done])).toEqual([done]);
  expect(endedBetween([done], [done])).toEqual([]);
  const halted = run({ phase: 'paused', error: appError('disk_full', 'full') });
  expect(endedBetween([running], [halted])).toEqual([halted]);
});

it('does not report a pause, which the user requested', () => {
  expect(endedBetween([running], [run({ phase: 'paused', error: null })])).toEqual([]);
  expect(endedBetween([running], [run({ phase: 'finishing' })])).toEqual([]);
});
