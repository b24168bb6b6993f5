import { useCallback } from 'react';
import type { InputFileProblem } from '../../electron/contract/index.ts';
import { useTexts, type MessageKey } from '../i18n/index.ts';
import { titleOfCode } from '../i18n/errors.ts';

/** What was found in a file, and what will happen, in the language of the window: by the code of what was found. */
export function useProblemTexts(): (problem: InputFileProblem) => { message: string; effect: string } {
  const { t, lookUp, language } = useTexts();
  return useCallback(
    ({ code, count, message, what_happens: effect }) => {
      const key = `engine.problem.${code}`;
      if (lookUp(key) !== null)
        return {
          message: t(key as MessageKey, { count }),
          effect: t(`${key}.effect` as MessageKey, { count }),
        };
      // What stops the reading of a file is an error, which has a title by its code.
      const title = language === 'en' ? null : titleOfCode(code, language);
      return { message: title ?? message, effect: title === null ? effect : '' };
    },
    [t, lookUp, language],
  );
}
