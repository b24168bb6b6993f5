import { useCallback } from 'react';
import type { InputFileProblem } from '../../electron/contract/index.ts';
import { useTexts } from '../i18n/index.ts';
import { titleOfCode } from '../i18n/errors.ts';

interface ProblemTexts {
  message: string;
  /** A few words for a row of a table. */
  short: string;
  effect: string;
}

/** Describes a problem in a file and its effect in the language of the window, by the problem's code. */
export function useProblemTexts(): (problem: InputFileProblem) => ProblemTexts {
  const { lookUp, language } = useTexts();
  return useCallback(
    ({ code, kind, count, values, message, what_happens: effect }) => {
      const key = kind === undefined ? `engine.problem.${code}` : `engine.problem.kind.${kind}`;
      const known = lookUp(key, { count, ...values });
      if (known !== null) {
        return {
          message: known,
          short: lookUp(`${key}.short`) ?? known,
          effect: lookUp(`${key}.effect`, { count }) ?? effect,
        };
      }
      // A problem that stops the reading of a file is an error, whose title is found by its code.
      const title = titleOfCode(code, language);
      const short = title ?? message;
      return language === 'en' || title === null
        ? { message, short, effect }
        : { message: short, short, effect: '' };
    },
    [lookUp, language],
  );
}
