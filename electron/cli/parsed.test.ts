import { expect, it } from 'vitest';
import { AppFailure } from '../contract/errors.ts';
import { inputPathsSchema, runRequestSchema } from '../contract/rpc/runs.ts';
import { parsed } from './commonFlags.ts';

function refusal(attempt: () => unknown): string | undefined {
  try {
    attempt();
  } catch (reason) {
    if (reason instanceof AppFailure) return `${reason.error.code}: ${reason.error.cause}`;
    throw reason;
  }
  return undefined;
}

it('refuses an empty input, such as from an unset variable, in plain words', () => {
  const words = 'usage: The name of an input is empty.';
  expect(refusal(() => parsed(runRequestSchema, { inputs: ['a.fa', ''] }))).toBe(words);
  expect(refusal(() => parsed(inputPathsSchema, ['']))).toBe(words);
  expect(parsed(inputPathsSchema, ['a.fa'])).toEqual(['a.fa']);
});

it('names the flag of any other value that is not allowed', () => {
  const request = { inputs: ['a.fa'], chunkLength: -1 };
  expect(refusal(() => parsed(runRequestSchema, request))).toMatch(/^usage: --chunkLength: /);
});
