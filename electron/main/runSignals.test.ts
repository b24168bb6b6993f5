import { describe, expect, it } from 'vitest';
import { appError } from '../contract/errors.ts';
import { wordsOf } from '../contract/problems.ts';
import { NO_WORKER_FIGURES, type RunLive, type RunSummary } from '../contract/rpc/runs.ts';
import type { RunState } from '../contract/runState.ts';
import { closeQuestion, downloadQuestion } from './quit/closeQuestion.ts';
import { noticeOf, taskbarProgress } from './runSignals.ts';
import { shellTexts } from './shellTexts.ts';

const summary: RunSummary = {
  runId: '7b0a3c51-8d0e-4a3f-9a38-0d5e7b0f3c11',
  folder: '/data/gut_predictions',
  name: 'gut',
  state: { phase: 'running' },
  interrupted: false,
  missing: false,
  createdAt: '2026-11-21T12:00:00.000Z',
  finishedAt: null,
  plan: {
    inputs: [{ path: '/data/gut.fa', sizeBytes: 1, sha256: '0'.repeat(64) }],
    model: {
      name: 'teaching',
      title: 'Teaching model',
      hash: '0'.repeat(64),
      folder: '/models/teaching',
      notice: null,
    },
    chunkLength: 500,
    precision: 'fp32',
    tokensPerBatch: 4096,
    residuesPerPart: 16_384,
    tailParts: 32,
    order: 'file',
    orderSeed: 0,
    firstRound: 1 / 256,
    embedEqualSequencesOnce: true,
    embeddings: null,
  },
  request: {
    inputs: ['/data/gut.fa'],
    model: 'teaching',
    where: { kind: 'this_computer' },
    devices: 'auto',
    precision: 'auto',
    embeddings: null,
    embedEqualSequencesOnce: true,
    keepWork: false,
    force: false,
    strict: false,
  },
  goal: null,
  queuePosition: null,
  controls: null,
  expected: null,
  starting: false,
  startsInSeconds: null,
  computingSeconds: null,
  fraction: 0.434,
  sequences: null,
  viralSequences: null,
  otherSequences: null,
  samples: [],
  tags: [],
  note: '',
};
const inState = (state: RunState, more: Partial<RunSummary> = {}): RunSummary => ({
  ...summary,
  state,
  ...more,
});

describe('notifications', () => {
  it('report an end, a failure, and a run that waits for the user', () => {
    const done = inState({ phase: 'done', failedParts: 1, failedRecords: 3 }, { viralSequences: 28 });
    expect(noticeOf(done, 'en')).toEqual({
      title: 'gut is done',
      body: '28 sequences called virus, 3 sequences failed',
    });
    const error = appError('disk_full', 'There is no space left.');
    expect(noticeOf(inState({ phase: 'paused', error }), 'en')?.title).toBe('gut needs attention');
    expect(noticeOf(inState({ phase: 'failed', error }), 'en')?.body).toBe('There is no space left.');
    const { title, next } = wordsOf('disk_full', 'de');
    const german = { title: 'gut braucht Sie', body: `${title}. ${next}` };
    expect(noticeOf(inState({ phase: 'paused', error }), 'de')).toEqual(german);
  });

  it('do not report what the user did themselves', () => {
    expect(noticeOf(inState({ phase: 'paused', error: null }), 'en')).toBeNull();
    expect(noticeOf(inState({ phase: 'cancelled' }), 'en')).toBeNull();
  });
});

describe('the taskbar', () => {
  it('shows the running run, and nothing for an interrupted one', () => {
    expect(taskbarProgress([summary])).toEqual({ value: 0.434, mode: 'normal' });
    expect(taskbarProgress([inState({ phase: 'pausing' })]).mode).toBe('paused');
    expect(taskbarProgress([inState({ phase: 'running' }, { fraction: null })]).mode).toBe('indeterminate');
    expect(taskbarProgress([inState({ phase: 'running' }, { interrupted: true })]).value).toBe(-1);
    expect(taskbarProgress([])).toEqual({ value: -1, mode: 'none' });
  });
});

describe('the question at closing', () => {
  const live = (state: RunState): RunLive => ({
    run: inState(state),
    progress: {
      prepare: { finished: true, records: 1, bases: 1, frames: 1 },
      parts: { total: 40, done: 17, failed: 0, inWork: 2 },
      frames: { total: 10, done: 5 },
      residues: { total: 10, done: 5 },
      inputs: { total: 1, done: 0, failed: 0 },
      fraction: 0.434,
      elapsedSeconds: 60,
      remainingSeconds: null,
      residuesPerSecond: 100,
      unusualNorms: null,
    },
    cluster: null,
    devices: [
      {
        id: 'cpu:0',
        name: 'CPU',
        index: null,
        place: null,
        worker: { state: 'working', part: '000017' },
        partFraction: 0.5,
        partsDone: 17,
        residuesDone: 4000,
        residuesPerSecond: 100,
        framesPerSecond: 1,
        tokensPerBatch: 4096,
        placement: 'resident',
        utilizationPercent: null,
        memoryUsedBytes: null,
        memoryTotalBytes: null,
        temperatureC: null,
        powerW: null,
        ...NO_WORKER_FIGURES,
      },
    ],
    recentEvents: [],
  });

  it('says what is kept, what is computed again, and how long the current parts take', () => {
    const { message, detail, choices, cancel } = closeQuestion(live({ phase: 'running' }), shellTexts('en'));
    expect(message).toBe('“gut” is still at work (43%).');
    expect(detail).toContain('17 of 40 parts are computed and stay on the disk');
    expect(detail).toContain('2 parts are being computed: if you quit now, they are computed again');
    expect(choices).toContainEqual(['Finish the current parts (about 2 minutes), then quit', 'after_parts']);
    expect(choices.map(([, answer]) => answer)).toEqual(['background', 'after_parts', 'now', 'cancel']);
    expect(cancel).toBe('cancel');
  });

  it('offers to finish parts only if that is possible, and otherwise still says that the run pauses', () => {
    const { choices, detail } = closeQuestion(live({ phase: 'draining' }), shellTexts('en'));
    expect(choices.map(([, answer]) => answer)).toEqual(['background', 'now', 'cancel']);
    expect(detail).toContain('If you cancel, the program stays open, and the run pauses');
    expect(closeQuestion(live({ phase: 'running' }), shellTexts('en')).detail).not.toContain('If you cancel');
  });

  it('does not count parts while there are none', () => {
    const reading = live({ phase: 'running' });
    reading.progress.parts = { total: 0, done: 0, failed: 0, inWork: 0 };
    const { detail } = closeQuestion(reading, shellTexts('en'));
    expect(detail).toContain('nothing is computed yet');
    expect(detail).not.toMatch(/0 of 0|0 parts/);
  });

  it('is asked for a download, too', () => {
    const { choices, cancel } = downloadQuestion(shellTexts('en'));
    expect(choices.map(([, answer]) => answer)).toEqual(['background', 'now', 'cancel']);
    expect(cancel).toBe('cancel');
  });
});
