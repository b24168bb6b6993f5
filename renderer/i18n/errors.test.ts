import { describe, expect, it } from 'vitest';
import { appError, errorCodeSchema } from '../../electron/contract/index.ts';
import { errorWords } from './errors.ts';

describe('errors in the window', () => {
  const codes = errorCodeSchema.options;

  it('never send a user to a terminal', () => {
    const sending = codes.filter((code) => {
      const { title, next } = errorWords(appError(code, 'x'), 'en');
      return /virnucpro |--\w/.test(`${title} ${next}`);
    });
    expect(sending).toEqual([]);
  });

  it('have a title and a next step in German', () => {
    const untranslated = codes.filter((code) => {
      const [german, english] = [errorWords(appError(code, 'x'), 'de'), appError(code, 'x')];
      return german.title === english.title || german.next === english.nextStep;
    });
    expect(untranslated).toEqual([]);
  });

  it('keep a next step that was written for the case, in the language in which it was written', () => {
    const error = appError('part_failed', 'x', { nextStep: 'Close other programs that use the GPU.' });
    expect(errorWords(error, 'en').next).toBe('Close other programs that use the GPU.');
    expect(errorWords(error, 'de').next).toMatch(/^Wiederholen Sie/);
  });
});
