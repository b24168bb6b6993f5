import { describe, expect, it } from 'vitest';
import { appError, errorCodeSchema } from '../../electron/contract/index.ts';
import { errorWords } from './errors.ts';

describe('errors in the window', () => {
  it.each(errorCodeSchema.options)('%s sends nobody to a terminal', (code) => {
    const { title, next } = errorWords(appError(code, 'x'), 'en');
    expect(`${title} ${next}`).not.toMatch(/virnucpro |--\w/);
  });

  it.each(errorCodeSchema.options)('%s has a German title', (code) => {
    expect(errorWords(appError(code, 'x'), 'de').title).not.toBe(appError(code, 'x').title);
  });

  it.each(errorCodeSchema.options)('%s has a German next step', (code) => {
    expect(errorWords(appError(code, 'x'), 'de').next).not.toBe(appError(code, 'x').nextStep);
  });

  it('keeps the next step that was written for the case, in the language it was written in', () => {
    const error = appError('part_failed', 'x', { nextStep: 'Close other programs that use the GPU.' });
    expect(errorWords(error, 'en').next).toBe('Close other programs that use the GPU.');
    expect(errorWords(error, 'de').next).toMatch(/^Wiederholen Sie/);
  });
});
