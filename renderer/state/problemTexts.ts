import { useCallback } from 'react';
import type { InputFileProblem } from '../../electron/contract/index.ts';
import { useTexts, type MessageKey } from '../i18n/index.ts';
import { titleOfCode } from '../i18n/errors.ts';

interface ProblemTexts {
  message: string;
  /** In a few words, for a row of a table. */
  short: string;
  effect: string;
}

/** What was found in a file, and what will happen, in the language of the window: by the code of what was found. */
export function useProblemTexts(): (problem: InputFileProblem) => ProblemTexts {
  const { t, lookUp, language } = useTexts();
  return useCallback(
    ({ code, kind, count, message, what_happens: effect }) => {
      const key = kind === undefined ? `engine.problem.${code}` : `engine.problem.kind.${kind}`;
      if (lookUp(key) !== null) {
        const known = t(key as MessageKey, { count });
        return {
          message: known,
          short: lookUp(`${key}.short`) === null ? known : t(`${key}.short` as MessageKey),
          effect: t(`${key}.effect` as MessageKey, { count }),
        };
      }
      // What stops the reading of a file is an error, which has a title by its code.
      const title = titleOfCode(code, language);
      const short = title ?? message;
      return language === 'en' || title === null
        ? { message, short, effect }
        : { message: short, short, effect: '' };
    },
    [t, lookUp, language],
  );
}
