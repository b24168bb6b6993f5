import { expect, it } from 'vitest';
import { runOptionsSchema } from '../store/types.ts';
import { DESCRIPTION } from '../store/testing/syntheticRun.ts';
import { storedRequest } from './runRecord.ts';

it.each([{}, { request: { model: 'teaching' } }])('is reported as missing in %j', (stored) => {
  const options = runOptionsSchema.parse(stored);
  const error: unknown = expect.objectContaining({
    code: 'run_damaged',
    cause: expect.stringContaining('/runs/gut does not say how it was asked for') as unknown,
    nextStep: expect.stringContaining('virnucpro export') as unknown,
  });
  expect(() => storedRequest({ description: { ...DESCRIPTION, options } }, '/runs/gut')).toThrow(
    expect.objectContaining({ error }) as Error,
  );
});
