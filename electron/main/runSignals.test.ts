import { describe, expect, it } from 'vitest';
import { appError } from '../contract/errors.ts';
import { wordsOf } from '../contract/problems.ts';
import type { RunLive, RunSummary } from '../contract/rpc/runs.ts';
import type { RunState } from '../contract/runState.ts';
import { closeQuestion, downloadQuestion } from './quit/closeQuestion.ts';
import { noticeOf, taskbarProgress } from './runSignals.ts';
import { shellTexts } from './shellTexts.ts';

const inState = (state: RunState, more: Partial<RunSummary> = {}): RunSummary =>
  ({ name: 'gut', state, interrupted: false, missing: false, fraction: 0.434, ...more }) as RunSummary;

describe('notifications', () => {
  const error = appError('disk_full', 'There is no space left.');
  const { title, next } = wordsOf('disk_full', 'de');
  it.each<[RunState, 'en' | 'de', ReturnType<typeof noticeOf>]>([
    [
      { phase: 'done', failedParts: 1, failedRecords: 3 },
      'en',
      { title: 'gut is done', body: '28 sequences called virus, 3 sequences failed' },
    ],
    [{ phase: 'failed', error }, 'en', { title: 'gut could not go on', body: 'There is no space left.' }],
    [{ phase: 'paused', error }, 'de', { title: 'gut braucht Sie', body: `${title}. ${next}` }],
    // What the user did is no news.
    [{ phase: 'paused', error: null }, 'en', null],
    [{ phase: 'cancelled' }, 'en', null],
  ])('report an end, a failure, and a run that waits for the user: %j in %s', (state, language, notice) => {
    const told = noticeOf(inState(state, { viralSequences: 28 }), language);
    expect(told).toEqual(notice);
  });
});

it('the taskbar shows the running run, and nothing for an interrupted one', () => {
  expect(taskbarProgress([inState({ phase: 'running' })])).toEqual({ value: 0.434, mode: 'normal' });
  expect(taskbarProgress([inState({ phase: 'pausing' })]).mode).toBe('paused');
  expect(taskbarProgress([inState({ phase: 'running' }, { fraction: null })]).mode).toBe('indeterminate');
  expect(taskbarProgress([inState({ phase: 'running' }, { interrupted: true })]).value).toBe(-1);
  expect(taskbarProgress([])).toEqual({ value: -1, mode: 'none' });
});

describe('the question at closing', () => {
  const live = (phase: 'running' | 'draining', total = 40): RunLive =>
    ({
      run: inState({ phase }, { plan: { residuesPerPart: 16_384 } as RunSummary['plan'] }),
      progress: {
        prepare: { finished: true },
        parts: { total, done: 17, failed: 0, inWork: total && 2 },
        fraction: 0.434,
      },
      devices: [{ worker: { state: 'working' }, partFraction: 0.5, residuesPerSecond: 100 }],
    }) as RunLive;

  it.each([
    [closeQuestion(live('running'), shellTexts('en')), ['background', 'after_parts', 'now', 'cancel']],
    [closeQuestion(live('draining'), shellTexts('en')), ['background', 'now', 'cancel']],
    [downloadQuestion(shellTexts('en')), ['background', 'now', 'cancel']],
  ])(
    'offers to finish parts only if that is possible, and changes nothing if dismissed',
    (question, answers) => {
      expect(question.choices.map(([, answer]) => answer)).toEqual(answers);
      expect(question.cancel).toBe('cancel');
    },
  );

  it('says how much is kept and computed again, if there are parts', () => {
    const detail = (total: number) => closeQuestion(live('running', total), shellTexts('en')).detail;
    expect(detail(40)).toMatch(/17 of 40 parts .* 2 parts are being computed/s);
    expect(detail(0)).not.toMatch(/\d parts/);
  });
});
