import { expect, it } from 'vitest';
import { ConnectionLost, toShownError } from './callError.ts';

it('keeps an error that is ready to be shown, including a lost connection', () => {
  const shown = toShownError(new ConnectionLost());
  expect(shown.code).toBe('connection_lost');
  expect(toShownError(shown)).toBe(shown);
});
