import { expect, it } from 'vitest';
import { runOptionsSchema } from '../store/types.ts';
import { AppFailure } from '../../contract/errors.ts';
import { DESCRIPTION } from '../store/testing/syntheticRun.ts';
import { storedRequest } from './runRecord.ts';

const asked = (options: object) =>
  storedRequest({ description: { ...DESCRIPTION, options: runOptionsSchema.parse(options) } }, '/runs/gut');

it('is read from the run', () => {
  expect(asked({ request: { inputs: ['/a.fa'], model: 'teaching' } })).toMatchObject({
    inputs: ['/a.fa'],
    model: 'teaching',
  });
});

it.each([{}, { request: { model: 'teaching' } }])('is reported as missing in %j', (options) => {
  const refused = (): unknown => {
    try {
      return asked(options);
    } catch (error) {
      return error;
    }
  };
  const failure = refused();
  expect(failure).toBeInstanceOf(AppFailure);
  const { code, cause, nextStep } = (failure as AppFailure).error;
  expect(code).toBe('run_damaged');
  expect(cause).toContain('/runs/gut does not say how it was asked for');
  expect(nextStep).toContain('virnucpro export');
});
