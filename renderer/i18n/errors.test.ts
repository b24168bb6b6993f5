import { describe, expect, it } from 'vitest';
import { appError } from '../../electron/contract/index.ts';
import { errorWords } from './errors.ts';

describe('errors in the window', () => {
  it('keep a next step that was written for the case, in the language in which it was written', () => {
    const error = appError('internal_error', 'x', { nextStep: 'Close other programs that use the GPU.' });
    expect(errorWords(error, 'en').next).toBe('Close other programs that use the GPU.');
    expect(errorWords(error, 'de').next).toMatch(/^Wiederholen Sie/);
  });
});
