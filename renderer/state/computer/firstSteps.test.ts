import { describe, expect, it } from 'vitest';
import { appError, type EnvironmentStatus, type ModelStatus } from '../../../electron/contract/index.ts';
import { madeControls, MODELS } from '../../testing/memoryEngine/computer.ts';
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
const DONE: FirstFacts['example'] = { state: { phase: 'done', failedParts: 0, failedRecords: 0 } };

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
  it.each<EnvironmentStatus | null>([
    null,
    { state: 'checking' },
    { state: 'broken', error, plan: PLAN },
    { state: 'unsupported', error },
  ])('are at the set-up while there is no environment, whatever was there before: %j', (environment) => {
    const { current, isDone } = at({ environment, models: MODELS, example: DONE });
    expect([current, ...Object.values(isDone)]).toEqual(['setUp', false, false, false, false, false]);
  });

  it('go on with the example until it is done', () => {
    expect(at({})).toMatchObject({ isDone: { setUp: true }, current: 'example' });
    expect(at({ example: { state: { phase: 'failed', error } } }).current).toBe('example');
  });

  it('then go on with a model, and accept neither the teaching model nor a damaged one', () => {
    const damaged = MODELS.map((model) => ({ ...model, problem: error }));
    for (const models of [TEACHING_ONLY, null, damaged])
      expect(at({ example: DONE, models })).toMatchObject({ usable: [], current: 'model' });
    expect(at({ example: DONE, models: MODELS })).toMatchObject({
      usable: [{ title: 'VirNucPro, 500-bp model' }, { title: 'Gut phages' }],
      isDone: { model: true },
      current: 'files',
    });
  });

  it('ask for a check of a usable model that can be checked, and only of such a one', () => {
    const models = ['500', 'teaching'].map((model) => ({
      ...{ model, title: model, hash: model, chunksPerMinute: null },
    }));
    const checks = { results: [], models };
    const facts = { example: DONE, models: MODELS, checks };
    expect(at(facts)).toMatchObject({ checked: [{ model: '500' }], current: 'check' });
    expect(at({ ...facts, putOff: new Set(['check']) }).current).toBe('files');
    expect(at({ ...facts, checks: { results: [madeControls('500')], models } })).toMatchObject({
      isDone: { check: true },
      current: 'files',
    });
  });

  it('let the user put off the example and the model; a step that is done after all counts as done', () => {
    expect(at({ putOff: new Set(['example']) }).current).toBe('model');
    const putOff = new Set(['example', 'model'] as const);
    expect(at({ putOff })).toMatchObject({ isDone: { model: false }, current: 'files' });
    expect(at({ putOff, models: MODELS }).isDone.model).toBe(true);
  });
});
