import { describe, expect, it } from 'vitest';
import {
  appError,
  type EnvironmentStatus,
  type ModelStatus,
  type RunSummary,
} from '../../../electron/contract/index.ts';
import { MODELS } from '../../testing/memoryEngine/computer.ts';
import { firstSteps, type FirstFacts } from './firstSteps.ts';

const PLAN = {
  folder: '/f',
  downloadBytes: 1,
  diskBytes: 2,
  diskFreeBytes: 3,
  pytorch: 'For the processor.',
};
const READY: EnvironmentStatus = {
  state: 'ready',
  pythonVersion: '3.12.4',
  torchVersion: '2.13.0',
};
const TEACHING_ONLY: ModelStatus[] = MODELS.map((model) => ({ ...model, present: model.id === 'teaching' }));
const error = appError('network_unreachable', 'No way.');
const progress = {
  step: 'Installing PyTorch',
  stepNumber: 3,
  stepCount: 5,
  fraction: 0.5,
  line: '',
  finished: false,
  error: null,
};

function example(phase: RunSummary['state']['phase'], interrupted = false): FirstFacts['example'] {
  const states: Record<RunSummary['state']['phase'], RunSummary['state']> = {
    created: { phase: 'created' },
    running: { phase: 'running' },
    pausing: { phase: 'pausing' },
    draining: { phase: 'draining' },
    paused: { phase: 'paused', error: null },
    finishing: { phase: 'finishing' },
    done: { phase: 'done', failedParts: 0, failedRecords: 0 },
    failed: { phase: 'failed', error },
    cancelled: { phase: 'cancelled' },
  };
  return { runId: 'run', state: states[phase], interrupted, fraction: 0.25 };
}

function at(facts: Partial<FirstFacts>): ReturnType<typeof firstSteps> {
  return firstSteps({
    environment: READY,
    models: TEACHING_ONLY,
    checks: null,
    example: null,
    putOff: new Set(),
    ...facts,
  });
}

describe('first steps', () => {
  it.each<[EnvironmentStatus | null, string]>([
    [null, 'looking'],
    [{ state: 'checking' }, 'looking'],
    [{ state: 'absent', plan: PLAN }, 'todo set_up'],
    [{ state: 'broken', error, plan: PLAN }, 'todo repair'],
    [{ state: 'cancelled', plan: PLAN }, 'todo go_on'],
    [{ state: 'setting_up', progress, plan: PLAN }, 'working'],
    [{ state: 'failed', error, plan: PLAN }, 'failed'],
    [{ state: 'interpreter_broken', error }, 'impossible interpreter'],
    [{ state: 'unsupported', error }, 'impossible none'],
  ])('stay at the set-up until there is an environment: %j', (environment, shown) => {
    const { setUp, example: second, model, files, current } = at({ environment, models: null });
    const more = 'how' in setUp ? ` ${setUp.how}` : 'remedy' in setUp ? ` ${setUp.remedy}` : '';
    expect(`${setUp.state}${more}`).toBe(shown);
    expect([second.state, model.state, files.state, current]).toEqual(['later', 'later', 'later', 'setUp']);
  });

  it('go on with the example, whatever its state', () => {
    expect(at({})).toMatchObject({
      setUp: { state: 'done' },
      example: { state: 'todo' },
      current: 'example',
    });
    for (const phase of ['created', 'running', 'pausing', 'draining', 'finishing'] as const) {
      expect(at({ example: example(phase) })).toMatchObject({
        example: { state: 'working' },
        current: 'example',
      });
    }
    for (const stopped of [
      example('paused'),
      example('failed'),
      example('cancelled'),
      example('running', true),
    ]) {
      expect(at({ example: stopped })).toMatchObject({ example: { state: 'stopped' }, current: 'example' });
    }
  });

  it('then go on with a model, and accept neither the teaching model nor a damaged one', () => {
    const done = { example: example('done') };
    expect(at(done)).toMatchObject({ model: { state: 'todo' }, current: 'model' });
    expect(at({ ...done, models: null })).toMatchObject({ model: { state: 'looking' }, current: 'model' });
    const damaged = MODELS.map((model) => ({ ...model, problem: error }));
    expect(at({ ...done, models: damaged })).toMatchObject({ model: { state: 'todo' } });
    expect(at({ ...done, models: MODELS })).toMatchObject({
      model: { state: 'done', titles: ['VirNucPro, 500-bp model', 'Gut phages'] },
      files: { state: 'ready' },
      current: 'files',
    });
  });

  it('let the user put off the example and the model, and then name what is missing', () => {
    expect(at({ putOff: new Set(['example']) }).current).toBe('model');
    expect(at({ putOff: new Set(['example', 'model']) })).toMatchObject({
      files: { state: 'without_model' },
      current: 'files',
    });
    // A step that was put off but done after all counts as done.
    expect(at({ putOff: new Set(['example', 'model']), models: MODELS }).files.state).toBe('ready');
  });

  it('return to the set-up if the environment breaks later', () => {
    const broken: EnvironmentStatus = { state: 'broken', error, plan: PLAN };
    expect(at({ environment: broken, example: example('done'), models: MODELS }).current).toBe('setUp');
  });
});
